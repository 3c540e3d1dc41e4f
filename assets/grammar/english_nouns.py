"""The English nouns by semantic class, and what goes with each class: PPs, adjectives, compounds.

Within a class the order is the order of frequency (`Draw.zipf`). `singular/plural` gives an irregular plural,
`word/-` a mass noun.
"""

from __future__ import annotations

from dataclasses import dataclass

from tables import pairs, read_table, words


@dataclass(frozen=True)
class Noun:
    """A noun; `plural` is None for a mass noun."""

    lemma: str
    plural: str | None


def _plural(noun: str) -> str:
    if noun.endswith(("s", "x", "ch", "sh")):
        return noun + "es"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + "s"


def _noun(entry: str) -> Noun:
    lemma, _, plural = entry.partition("/")
    return Noun(lemma, None if plural == "-" else plural or _plural(lemma))


NOUNS = {
    name: tuple(map(_noun, entries))
    for name, entries in read_table("""
person: teacher farmer doctor neighbour child/children painter woman/women man/men sailor nurse student
    baker singer girl boy lawyer engineer writer guide clerk tourist driver soldier tailor cook actor
    minister journalist carpenter gardener plumber dancer pilot fisherman/fishermen judge widow scholar
    miller porter waiter poet butcher surgeon referee nephew grandmother uncle aunt stranger mechanic
    librarian chemist violinist shepherd cyclist banker cashier colonel detective dentist electrician
    florist glazier goalkeeper hairdresser historian hunter janitor juggler lodger magician mathematician
    midwife/midwives novelist optician orphan potter printer programmer sculptor smuggler spectator tenant
    translator trader umpire veteran weaver wrestler apprentice
relation: owner friend daughter brother captain son sister director manager mother cousin editor colleague
    leader founder secretary mayor keeper heir guardian
animal: dog horse cat cow bird sheep/sheep goat fox rabbit hen donkey mouse/mice duck pig goose/geese hare
    owl swan wolf/wolves hedgehog pony lamb crow parrot squirrel heron badger turtle beaver falcon otter
    puppy kitten stork magpie weasel pheasant mule calf/calves
food: soup bread/- pizza cake rice/- fish/- cheese/- salad pancake stew pie potato/potatoes bean sausage
    egg omelette sandwich pasta/- porridge/- biscuit pudding noodle/noodles steak waffle dumpling lentil
    ham/- trout/- apple pear plum cherry turnip cabbage lasagne/- trifle crumble risotto
drink: coffee/- tea/- milk/- water/- wine/- beer/- juice/- cider/- cocoa/- lemonade/- broth/- brandy/-
topping: onion olive mushroom anchovy tomato/tomatoes butter/- honey/- raisin nut garlic/- cinnamon/-
    pepper/- basil/- caper walnut cream/- mustard/- parsley/- syrup/- almond chive radish
cutlery: fork spoon knife/knives chopstick ladle teaspoon skewer spatula
tool: hammer brush saw rope ladder drill shovel cloth sponge screwdriver spade axe chisel rake wrench
    bucket broom file needle hose mallet crowbar trowel
optic: telescope camera lens loupe microscope magnifier periscope spyglass
pen: pencil pen crayon quill marker typewriter
container: glass cup bottle bowl basket box jar bag barrel jug pot crate mug tin vase kettle sack tray
    flask bin pitcher teapot casket thermos
document: book letter report poem article story map newspaper novel contract diary essay play speech
    leaflet review message postcard manuscript notebook song list bill treaty biography brochure catalogue
    chapter decree dictionary invoice journal ledger memoir pamphlet petition proposal prospectus recipe
    sermon sonnet statute textbook thesis/theses verdict memo
vehicle: car boat bicycle train bus ship tractor cart van lorry tram ferry truck canoe wagon scooter barge
    carriage tanker yacht motorcycle sledge trawler ambulance minibus
garment: coat hat shirt dress scarf/scarves jacket shoe glove sweater skirt boot cap suit blouse apron
    cloak sock raincoat tie waistcoat uniform cardigan sandal slipper tunic shawl
furniture: table chair lamp desk cupboard bed clock bench shelf/shelves sofa carpet stool curtain wardrobe
    cradle bookcase armchair chest mattress cabinet dresser couch footstool chandelier
building: house school church tower station mill library bridge castle barn hotel museum cottage factory
    theatre palace shed lighthouse chapel hospital warehouse windmill bakery courthouse monastery stable
    prison greenhouse villa bungalow fortress
room: kitchen garden hall attic cellar bedroom corridor workshop office classroom study bathroom pantry
    laundry parlour conservatory
place: village market park forest river city beach harbour square street field island valley hill lake
    desert meadow shore coast border swamp orchard canyon suburb bay
event: meeting concert party lesson wedding race election journey festival trial dinner exam debate storm
    fair strike funeral lecture ceremony auction parade rehearsal tournament congress excursion hearing
    banquet seminar premiere referendum
topic: plan war problem law history/- music/- freedom/- weather/- money/- chess/- crisis/crises discovery
    mistake climate tax education/- astronomy/- religion economy geometry/- poverty/- mythology/-
    grammar/- pollution/- justice/- philosophy/- trade/- gardening/- agriculture/- unemployment/-
    folklore/-
bodypart: beard moustache scar limp/- tattoo/tattoos ponytail freckle dimple wig
tail: tail collar bell ear spot ribbon scar blanket leash bandage bow whisker
part: balcony door window roof chimney wheel drawer handle lid engine porch staircase lock gate mast
    basement turret sail hinge veranda antenna anchor
mark: button stripe pocket stain hood zip collar patch ribbon fringe lining sequin
picture: picture drawing photograph portrait illustration stamp signature footnote diagram sketch
    engraving watermark
plant: tree rose flower hedge bush tulip oak lily fern grass/- vine shrub daisy willow orchid thistle
    cactus sunflower pine elm daffodil ivy/- holly/- chestnut
instrument: piano violin flute guitar drum trumpet cello harp organ accordion clarinet banjo oboe fiddle
    trombone lute
material: stone wood/- brick iron/- glass/- leather/- silk/- wool/- copper/- paper/- marble/- velvet/-
    bronze/- linen/-
season: summer winter spring autumn weekend holiday evening Sunday Christmas
business: shop factory museum collection exhibition seller collector dealer warehouse market catalogue
""").items()
}

# The PPs that go with the nouns of a class: preposition-class.
NOUN_MODIFIERS = {
    name: pairs(entries)
    for name, entries in read_table("""
person: with-bodypart with-garment in-garment from-town with-optic with-tool in-vehicle with-animal
    near-building
relation: of-person of-building of-vehicle of-animal of-document from-town
animal: with-tail in-place from-town near-building of-person
food: with-topping from-town for-person with-food without-topping
drink: with-topping from-town without-topping
document: about-topic about-animal about-person from-person by-person with-picture on-topic for-person
    of-person about-event
vehicle: with-part of-person from-town near-building without-part
furniture: with-part of-person in-room from-town without-part
garment: with-mark of-person from-town for-person without-mark
container: of-drink of-food with-part from-town for-person without-part
building: with-part in-place near-place of-person in-town without-part
event: with-person in-town for-person about-topic in-building at-building
topic: of-person in-town
plant: in-place near-building from-town with-mark
instrument: of-person from-town for-person
tool: of-person with-part for-person
place: near-town with-building behind-building
room: with-furniture without-furniture
""").items()
}

# The classes that a conjunct of a noun is drawn from, where they are not just its own.
ALIKE = read_table("""
food: food topping
drink: drink
person: person
relation: person
""")

# The classes of the first noun of a two-noun compound.
COMPOUNDS = read_table("""
container: drink food
furniture: room material
building: material place
garment: material season
event: season place
vehicle: material
food: topping
document: topic
""")

ADJECTIVES = read_table("""
any: old new small big strange famous young expensive local
person: young old tall clever tired friendly rich lonely angry shy curious famous honest lazy nervous
    brave elderly cheerful stubborn polite modest absent-minded grumpy talkative reckless gullible sincere
animal: hungry wild white black tame small lame playful frightened stray timid nimble shaggy
food: hot fresh cold sweet salty spicy delicious stale sour greasy burnt homemade crispy bland
drink: hot cold strong sweet fresh weak bitter sparkling lukewarm
document: long short secret boring interesting anonymous famous French moving illegible tedious forged
    handwritten
thing: old new heavy broken red cheap blue green wooden expensive beautiful rusty dirty useless elegant
    shabby second-hand yellow sturdy antique fragile battered gleaming
place: old narrow quiet large dark empty remote beautiful crowded northern abandoned dusty picturesque
event: long important annual boring noisy short quiet secret unexpected chaotic memorable
topic: difficult new serious ancient local complicated urgent modern controversial
""")
# The classes of nouns that share the adjectives of another class.
_SHARED = read_table("""
person: relation
food: topping
place: room building town
thing: vehicle garment furniture container tool cutlery optic pen part picture instrument plant
any: mark bodypart tail
""")
ADJECTIVE_CLASS = {name: shared for shared, names in _SHARED.items() for name in names}


def adjectives(meaning: str):
    """The adjectives that go with nouns of the class."""
    return ADJECTIVES[ADJECTIVE_CLASS.get(meaning, meaning if meaning in ADJECTIVES else "any")]


# Adjectives that do not stand together on one noun.
OPPOSITES = tuple(
    frozenset(pair.split("-"))
    for pair in words(
        """new-old old-young cold-hot big-small long-short sour-sweet black-white large-small fresh-stale
    ancient-local cheap-expensive strong-weak bright-dark bitter-sweet hot-lukewarm modern-old"""
    )
)
# Adjectives like red-haired: the second parts by class of noun, the first parts by second part.
BAHUVRIHI = read_table("""
person: haired eyed bearded faced
animal: tailed eared footed haired
building: roofed walled gabled
vehicle: wheeled
garment: sleeved collared
furniture: legged backed
plant: leaved stemmed
""")
FIRST_PARTS = read_table("""
haired: red grey fair dark long short brown black white golden silver curly
eyed: blue brown green grey dark bright wide sharp
bearded: grey white red black long
faced: round red pale long thin
tailed: long short white black bushy
eared: long black short brown grey
footed: white black swift web
roofed: red grey flat blue green
walled: white thick grey yellow red thin
gabled: white high red
wheeled: four three two big
sleeved: long short red wide blue
collared: high white black red blue
legged: three long short thin iron
backed: high low straight hard
leaved: broad dark red silver small
stemmed: long thick thin short
""")
PARTS = words("bodypart tail mark part picture topping")  # with a beard, not with this beard
ON_PLACES = words("beach square island hill shore coast border list map postcard")
