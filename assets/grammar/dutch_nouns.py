"""The Dutch nouns by semantic class, and what goes with each class: PPs, adjectives, compounds.

Within a class the order is the order of frequency (`Draw.zipf`). A noun is `lemma/plural`, where `en` and
`s` stand for the ending alone and `-` for no plural; `=` before it marks a het-word. An adjective is
`form/inflected form` where that is not form + e.
"""

from __future__ import annotations

from dataclasses import dataclass

from tables import pairs, read_table, words


@dataclass(frozen=True)
class Noun:
    """A noun; `plural` is None for a mass noun, `neuter` tells het-words."""

    lemma: str
    plural: str | None
    neuter: bool


@dataclass(frozen=True)
class Adjective:
    form: str
    inflected: str


def _noun(entry: str) -> Noun:
    lemma, _, plural = entry.lstrip("=").partition("/")
    endings = {"en": lemma + "en", "s": lemma + "s", "n": lemma + "n", "-": None}
    if plural in ("nen", "ken", "ten", "pen", "sen", "len", "gen", "men", "den", "ren", "eren", "ën"):
        plural = lemma + plural
    return Noun(lemma, endings.get(plural, plural), entry.startswith("="))


def _adjective(entry: str) -> Adjective:
    form, _, inflected = entry.partition("/")
    return Adjective(form, inflected or form + "e")


NOUNS = {
    name: tuple(map(_noun, entries))
    for name, entries in read_table("""
person: leraar/leraren boer/en dokter/s =kind/kinderen man/nen vrouw/en =meisje/s jongen/s bakker/s
    buurman/buurmannen schilder/s zanger/s matroos/matrozen student/en schrijver/s agent/en kapper/s
    toerist/en soldaat/soldaten kok/s rechter/s timmerman/timmerlieden tuinman/tuinmannen loodgieter/s
    piloot/piloten visser/s weduwe/weduwen gids/en dichter/s ober/s slager/s chirurg/en oma/oma's
    opa/opa's tante/s vreemdeling/en bibliothecaris/bibliothecarissen herder/s fietser/s bankier/s
    kolonel/s rechercheur/s tandarts/en bloemist/en keeper/s historicus/historici jager/s
    acrobaat/acrobaten tovenaar/s wiskundige/n vroedvrouw/en opticien/s wees/wezen drukker/s smokkelaar/s
    toeschouwer/s huurder/s vertaler/s veteraan/veteranen wever/s worstelaar/s leerling/en verpleegster/s
    molenaar/s ingenieur/s advocaat/advocaten journalist/en danseres/sen postbode/s glazenwasser/s
    brandweerman/brandweerlieden
relation: vriend/en eigenaar/eigenaren dochter/s broer/s zoon/s zus/sen directeur/s vader/s moeder/s
    neef/neven kapitein/s collega/collega's leider/s oprichter/s secretaris/secretarissen burgemeester/s
    erfgenaam/erfgenamen voogd/en beheerder/s redacteur/s
animal: hond/en =paard/en kat/ten koe/koeien vogel/s =schaap/schapen geit/en vos/sen =konijn/en kip/pen
    ezel/s muis/muizen eend/en =varken/s gans/ganzen haas/hazen uil/en zwaan/zwanen wolf/wolven egel/s
    =lam/lammeren kraai/en papegaai/en eekhoorn/s reiger/s das/sen schildpad/den bever/s valk/en otter/s
    ooievaar/s ekster/s fazant/en =kalf/kalveren =veulen/s =hert/en
food: soep/- =brood/- pizza/pizza's taart/en rijst/- vis/- kaas/kazen salade/s pannenkoek/en =ei/eieren
    aardappel/s worst/en omelet/ten pasta/- pap/- pudding/en =koekje/s =broodje/s stamppot/- haring/en
    appel/s peer/peren pruim/en =biefstukje/s wafel/s linzensoep/- knoedel/s ham/- forel/len kool/-
    raap/rapen mossel/en erwtensoep/- oliebol/len
drink: koffie/- thee/- melk/- =water/- wijn/- =bier/- =sap/- cider/- limonade/- bouillon/- jenever/-
    karnemelk/-
topping: ui/en olijf/olijven champignon/s ansjovis/- tomaat/tomaten boter/- honing/- rozijn/en noot/noten
    knoflook/- kaneel/- peper/- =basilicum/- =kappertje/s room/- mosterd/- peterselie/- stroop/-
    amandel/en radijs/radijzen
cutlery: vork/en lepel/s =mes/sen =eetstokje/s =theelepeltje/s soeplepel/s spatel/s prikker/s
tool: hamer/s kwast/en zaag/zagen =touw/en ladder/s boor/boren schop/pen doek/en spons/en
    schroevendraaier/s spade/s bijl/en beitel/s hark/en emmer/s bezem/s vijl/en naald/en tuinslang/en
    troffel/s koevoet/en nijptang/en
optic: verrekijker/s telescoop/telescopen camera/camera's bril/len microscoop/microscopen spiegel/s
    =vergrootglas/vergrootglazen periscoop/-
pen: =potlood/potloden pen/nen =krijtje/s ganzenveer/ganzenveren viltstift/en schrijfmachine/s
container: =glas/glazen =kopje/s fles/sen kom/men mand/en doos/dozen pot/ten zak/ken =vat/en kan/nen
    krat/ten beker/s =blik/ken vaas/vazen ketel/s =dienblad/en bak/ken theepot/ten thermosfles/sen
    =kistje/s =flesje/s
document: =boek/en brief/brieven =rapport/en =gedicht/en =artikel/en =verhaal/verhalen kaart/en krant/en
    roman/s =contract/en =dagboek/en =essay/s =toneelstuk/ken toespraak/toespraken folder/s recensie/s
    =bericht/en ansichtkaart/en =handschrift/en =schrift/en =lied/eren lijst/en rekening/en =verdrag/en
    biografie/en brochure/s catalogus/catalogi =hoofdstuk/ken =decreet/decreten =woordenboek/en
    factuur/facturen =pamflet/ten petitie/s =voorstel/len =recept/en preek/preken =sonnet/ten scriptie/s
    =vonnis/sen =logboek/en
vehicle: auto/auto's boot/boten fiets/en trein/en bus/sen =schip/schepen tractor/s kar/ren =busje/s
    vrachtwagen/s tram/s veerboot/veerboten kano/kano's step/pen aak/aken koets/en =jacht/en tanker/s
    motor/motoren slee/sleeën trawler/s ambulance/s
garment: jas/sen hoed/en =overhemd/en jurk/en sjaal/s =jasje/s schoen/en handschoen/en trui/en rok/ken
    laars/laarzen pet/ten =pak/ken bloes/bloezen =schort/en mantel/s sok/ken regenjas/sen das/sen =vest/en
    =uniform/en sandaal/sandalen pantoffel/s tuniek/en muts/en
furniture: tafel/s stoel/en lamp/en =bureau/s kast/en =bed/den klok/ken bank/en plank/en =tapijt/en
    kruk/ken =gordijn/en wieg/en boekenkast/en leunstoel/en kist/en matras/sen kroonluchter/s ladekast/en
    divan/s
building: =huis/huizen school/scholen kerk/en toren/s =station/s molen/s bibliotheek/bibliotheken brug/gen
    =kasteel/kastelen schuur/schuren =hotel/s =museum/musea boerderij/en fabriek/en =theater/s
    =paleis/paleizen vuurtoren/s kapel/len =ziekenhuis/ziekenhuizen =pakhuis/pakhuizen bakkerij/en
    gevangenis/sen =klooster/s kas/sen villa/villa's vesting/en stal/len
room: keuken/s tuin/en hal/len zolder/s kelder/s slaapkamer/s gang/en werkplaats/en =kantoor/kantoren
    =klaslokaal/klaslokalen studeerkamer/s badkamer/s voorraadkamer/s serre/s
place: =dorp/en markt/en =park/en =bos/sen rivier/en stad/steden =strand/en haven/s =plein/en
    straat/straten =veld/en =eiland/en =dal/en heuvel/s =meer/meren woestijn/en wei/den kust/en
    grens/grenzen =moeras/sen boomgaard/en buitenwijk/en baai/en polder/s
event: vergadering/en =concert/en =feest/en les/sen bruiloft/en wedstrijd/en verkiezing/en reis/reizen
    =festival/s =proces/sen =diner/s =examen/s =debat/ten storm/en kermis/sen staking/en begrafenis/sen
    lezing/en plechtigheid/plechtigheden veiling/en optocht/en repetitie/s =toernooi/en =congres/sen
    excursie/s hoorzitting/en =banket/ten =referendum/referenda première/s
topic: =plan/nen oorlog/en =probleem/problemen wet/ten geschiedenis/- muziek/- vrijheid/- =weer/- =geld/-
    =schaken/- crisis/sen ontdekking/en fout/en =klimaat/- belasting/en =onderwijs/- sterrenkunde/-
    godsdienst/en economie/- meetkunde/- armoede/- grammatica/- vervuiling/- handel/- landbouw/-
    werkloosheid/- filosofie/- folklore/-
bodypart: baard/en snor/ren =litteken/s tatoeage/s paardenstaart/en =kuiltje/s pruik/en
tail: staart/en halsband/en =belletje/s =oor/oren vlek/ken =lint/en =litteken/s deken/s riem/en =verband/en
part: =balkon/s deur/en =raam/ramen =dak/en schoorsteen/schoorstenen =wiel/en lade/n =handvat/ten
    =deksel/s motor/en trap/pen =slot/en poort/en mast/en torentje/s =zeil/en veranda/veranda's antenne/s
    =anker/s
mark: knoop/knopen streep/strepen zak/ken vlek/ken capuchon/s rits/en kraag/kragen =lint/en franje/s
    voering/en =lovertje/s
picture: tekening/en foto/foto's prent/en =portret/ten illustratie/s stempel/s handtekening/en
    voetnoot/voetnoten =diagram/men schets/en gravure/s
plant: boom/bomen roos/rozen bloem/en heg/gen struik/en tulp/en eik/en lelie/s varen/s =gras/-
    wijnstok/ken =madeliefje/s wilg/en orchidee/ën distel/s cactus/sen zonnebloem/en den/nen narcis/sen
    klimop/- kastanje/s
instrument: piano/piano's viool/violen fluit/en gitaar/gitaren trommel/s trompet/ten cello/cello's harp/en
    =orgel/s accordeon/s klarinet/ten banjo/banjo's hobo/hobo's trombone/s luit/en
""").items()
}

# The PPs that go with the nouns of a class: preposition-class.
NOUN_MODIFIERS = {
    name: pairs(entries)
    for name, entries in read_table("""
person: met-bodypart met-garment in-garment uit-town met-optic met-tool in-vehicle met-animal bij-building
relation: van-person van-building van-vehicle van-animal uit-town
animal: met-tail in-place uit-town bij-building van-person
food: met-topping uit-town voor-person met-food zonder-topping
drink: met-topping uit-town zonder-topping
document: over-topic over-animal over-person van-person met-picture voor-person over-event
vehicle: met-part van-person uit-town bij-building zonder-part
furniture: met-part van-person in-room uit-town zonder-part
garment: met-mark van-person uit-town voor-person zonder-mark
container: met-part met-drink uit-town voor-person zonder-part
building: met-part in-place bij-place van-person in-town zonder-part
event: met-person in-town voor-person over-topic in-building
topic: van-person in-town
plant: in-place bij-building uit-town
instrument: van-person uit-town voor-person
tool: van-person met-part voor-person
place: bij-town met-building achter-building
room: met-furniture zonder-furniture
""").items()
}

# The classes that a conjunct of a noun is drawn from, where they are not just its own.
ALIKE = read_table("""
food: food topping
drink: drink
""")

# First parts of compounds written as one word (keukentafel), by the class of the second part.
COMPOUNDS = read_table("""
furniture: keuken tuin zolder school kantoor slaapkamer kinder
building: dorps stads school water zomer kust
container: soep wijn melk bier water jam stroop
vehicle: post school vracht melk vissers
garment: winter zomer regen kinder zondags
event: school dorps zomer avond muziek stads kerk
document: school reis kook liefdes muziek streek
plant: tuin heide fruit kamer water moeras
animal: boeren water bos huis berg
food: appel groente kaas boeren kruiden
part: voor achter zij kelder hout
person: dorps school hulp amateur stads
tool: tuin timmer keuken staal
""")

ADJECTIVES = {
    name: tuple(map(_adjective, entries))
    for name, entries in read_table("""
any: oud nieuw klein groot/grote vreemd beroemd jong duur/dure
person: jong oud lang slim/slimme rijk vriendelijk eenzaam/eenzame boos/boze verlegen/verlegen eerlijk lui
    beroemd zenuwachtig nieuwsgierig dapper vrolijk koppig beleefd bescheiden/bescheiden verstrooid
    brutaal/brutale zwijgzaam/zwijgzame roekeloos/roekeloze
animal: hongerig wild wit/witte zwart klein tam/tamme speels schuw mak/makke bruin lenig kreupel
food: warm vers koud zoet lekker zout pittig oudbakken/oudbakken vet/vette zuur/zure heerlijk knapperig
    flauw
drink: warm koud sterk zoet vers slap/slappe bitter lauw
document: lang kort geheim saai interessant anoniem beroemd ontroerend onleesbaar/onleesbare langdradig
    vervalst
thing: oud nieuw zwaar/zware kapot/kapotte rood/rode goedkoop/goedkope blauw groen houten/houten duur/dure
    mooi roestig vuil nutteloos/nutteloze elegant versleten/versleten tweedehands/tweedehands geel/gele
    stevig antiek breekbaar/breekbare glimmend
place: oud smal/smalle rustig groot/grote donker leeg/lege afgelegen/afgelegen mooi druk/drukke noordelijk
    verlaten/verlaten stoffig schilderachtig
event: lang belangrijk jaarlijks saai kort druk/drukke geheim luidruchtig onverwacht chaotisch
    gedenkwaardig
topic: moeilijk nieuw ernstig oud plaatselijk ingewikkeld dringend modern omstreden/omstreden
""").items()
}
# The classes of nouns that share the adjectives of another class.
_SHARED = read_table("""
person: relation
food: topping
place: room building
thing: vehicle garment furniture container tool cutlery optic pen part picture instrument
any: plant
""")
ADJECTIVE_CLASS = {name: shared for shared, names in _SHARED.items() for name in names}


def adjectives(meaning: str):
    """The adjectives that go with nouns of the class."""
    return ADJECTIVES[ADJECTIVE_CLASS.get(meaning, meaning if meaning in ADJECTIVES else "any")]


# Adjectives that do not stand together on one noun.
OPPOSITES = tuple(
    frozenset(pair.split("-"))
    for pair in words(
        """nieuw-oud jong-oud koud-warm groot-klein kort-lang zoet-zuur wit-zwart oudbakken-vers
    duur-goedkoop slap-sterk bitter-zoet lauw-warm modern-oud druk-verlaten druk-rustig tam-wild
    mak-wild zoet-zout"""
    )
)
PARTS = words("bodypart tail mark part picture topping")  # met een baard, niet met deze baard
OP_PLACES = words("""strand eiland plein markt veld heuvel kust grens weide wei straat zolder kantoor kaart lijst""")
