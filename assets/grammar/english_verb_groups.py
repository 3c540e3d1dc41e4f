"""The English verbs, grouped by what they select.

Verbs are `lemma` or `lemma/past/participle`, with `+particle` or `:preposition` behind.
"""

from __future__ import annotations

from dataclasses import dataclass

from tables import read_groups


@dataclass(frozen=True)
class Verb:
    """A verb with its principal parts and, where it has them, its particle or preposition."""

    lemma: str
    past: str
    participle: str
    particle: str = ""
    preposition: str = ""


DOUBLING = ("travel", "quarrel", "cancel", "begin", "forget", "admit", "prefer")


def doubles(lemma: str) -> bool:
    """Whether the last consonant doubles before -ed and -ing: one vowel, then one consonant (stop)."""
    if lemma in DOUBLING:
        return True
    vowels = sum(letter in "aeiou" for letter in lemma)
    return vowels == 1 and len(lemma) > 2 and lemma[-2] in "aeiou" and lemma[-1] not in "aeiouwxy"


def _past(lemma: str) -> str:
    if lemma.endswith("e"):
        return lemma + "d"
    if lemma.endswith("y") and lemma[-2] not in "aeiou":
        return lemma[:-1] + "ied"
    return lemma + (lemma[-1] if doubles(lemma) else "") + "ed"


def verb(entry: str) -> Verb:
    """Read `lemma`, `lemma/past/participle`, with `+particle` or `:preposition` behind."""
    entry, _, particle = entry.partition("+")
    entry, _, preposition = entry.partition(":")
    lemma, *forms = entry.split("/")
    past, participle = forms or (_past(lemma), _past(lemma))
    return Verb(lemma, past, participle, particle, preposition)


GROUPS = read_groups(
    """
frame: transitive
verbs: eat/ate/eaten cook prepare serve taste share bake fry order grill boil devour slice swallow reheat
    season nibble
subject: person
object: food
modifiers: with-cutlery in-room at-event for-person

frame: transitive
verbs: drink/drank/drunk pour sip spill brew order
subject: person
object: drink
modifiers: in-room at-event for-person with-cutlery

frame: transitive
verbs: read/read/read write/wrote/written study publish sign copy translate print correct burn quote edit
    finish rewrite/rewrote/rewritten summarise recite censor
subject: person
object: document
modifiers: in-room with-optic with-pen for-person on-vehicle at-event

frame: transitive
verbs: repair clean paint build/built/built polish wash decorate measure restore cover damage scrub
    varnish dismantle inspect renovate
subject: person
object: vehicle furniture building
modifiers: with-tool in-place for-person after-event

frame: transitive
verbs: see/saw/seen watch notice photograph observe spot recognise examine film draw/drew/drawn sketch
    glimpse
subject: person
object: person animal vehicle building
modifiers: with-optic through-optic from-building from-vehicle near-place at-event

frame: transitive
verbs: help meet/met/met thank visit invite greet follow trust praise warn blame call
    forget/forgot/forgotten marry scold interview congratulate insult defend admire
subject: person
object: person
modifiers: in-place at-event after-event near-building with-document
manner: speak

frame: transitive
verbs: buy/bought/bought find/found/found sell/sold/sold borrow lose/lost/lost steal/stole/stolen
    hide/hid/hidden choose/chose/chosen bring/brought/brought keep/kept/kept want collect need receive
    rent auction
subject: person
object: document furniture garment vehicle tool instrument container
modifiers: from-person for-person in-place at-event in-town near-building

frame: transitive
verbs: wear/wore/worn iron fold mend wash tear/tore/torn lose/lost/lost sew/sewed/sewn dye
subject: person
object: garment
modifiers: at-event in-room for-person with-tool

frame: transitive
verbs: plant water cut/cut/cut trim pick grow/grew/grown prune uproot
subject: person
object: plant
modifiers: with-tool in-place for-person near-building

frame: transitive
verbs: discuss explain mention organise plan remember describe postpone cancel attend avoid criticise
    announce oppose analyse
subject: person
object: event topic
modifiers: with-person in-room at-event after-event in-document
manner: speak

frame: transitive
verbs: feed/fed/fed chase brush train catch/caught/caught rescue tame stroke shear
subject: person
object: animal
modifiers: with-tool in-place near-building for-person with-food

frame: transitive
verbs: play tune practise carry hear/heard/heard restring
subject: person
object: instrument
modifiers: at-event in-room for-person

frame: transitive
verbs: fill empty break/broke/broken drop wash hold/held/held lift rinse shake/shook/shaken
subject: person
object: container
modifiers: with-drink with-tool in-room for-person

frame: intransitive
verbs: laugh sing/sang/sung smile work wait sleep/slept/slept dance cry whisper shout rest sneeze hesitate
    complain yawn pray shiver relax
subject: person relation
modifiers: in-room at-event during-event with-person near-building
manner: speak

frame: intransitive
verbs: walk run/ran/run travel swim/swam/swum hurry wander march sail drive/drove/driven cycle limp
subject: person relation
modifiers: to-place to-town from-building through-place along-place
manner: move

frame: intransitive
verbs: arrive come/came/come leave/left/left return appear disappear stop vanish escape
subject: person relation animal vehicle
modifiers: from-town in-place at-event near-building after-event
manner: move

frame: intransitive
verbs: begin/began/begun end start continue fail resume
subject: event
modifiers: in-building in-town after-event
manner: move

frame: intransitive
verbs: collapse burn crumble fall/fell/fallen rot rust
subject: building furniture
modifiers: during-event after-event near-place
manner: move

frame: intransitive
verbs: appear vanish disappear arrive circulate
subject: document garment instrument
modifiers: in-room in-town after-event
manner: move

frame: intransitive
verbs: sleep/slept/slept graze hide/hid/hidden play drink/drank/drunk jump growl hibernate
subject: animal
modifiers: in-place near-building during-event
manner: move

frame: intransitive
verbs: grow/grew/grown bloom die wither blossom
subject: plant
modifiers: in-place near-building
manner: move

frame: prepositional
verbs: talk:about think/thought/thought:about speak/spoke/spoken:about write/wrote/written:about
    complain:about dream:about worry:about argue:about quarrel:about
subject: person relation
object: person event topic document animal
modifiers: in-room at-event with-person
manner: speak

frame: prepositional
verbs: look:at stare:at point:at laugh:at shout:at glance:at
subject: person relation
object: person animal building vehicle
modifiers: from-building through-optic in-place with-optic
manner: speak

frame: prepositional
verbs: wait:for search:for look:for hunt:for ask:for
subject: person relation
object: person vehicle animal document tool
modifiers: in-place near-building in-room with-optic

frame: prepositional
verbs: listen:to reply:to refer:to object:to
subject: person relation
object: person document
modifiers: in-room at-event
manner: speak

frame: prepositional
verbs: rely:on work:on depend:on insist:on
subject: person relation
object: document person vehicle
modifiers: with-tool in-room at-event

frame: particle
verbs: pick+up throw/threw/thrown+away put/put/put+down take/took/taken+out bring/brought/brought+back
    give/gave/given+back hand+over put/put/put+away send/sent/sent+back lock+away
subject: person
object: document furniture garment vehicle tool instrument container
modifiers: in-room with-tool for-person at-event

frame: ditransitive
verbs: give/gave/given send/sent/sent show/showed/shown offer lend/lent/lent hand promise sell/sold/sold
    owe
subject: person relation
object: document food garment container tool instrument
modifiers: at-event in-room

frame: report
verbs: say/said/said think/thought/thought believe know/knew/known claim hope report hear/heard/heard
    explain discover notice suspect remember deny admit/admitted/admitted fear announce guess assume
subject: person relation
manner: speak

frame: interrogative
verbs: ask wonder know/knew/known forget/forgot/forgotten inquire
subject: person relation
manner: speak

frame: control
verbs: want try decide hope promise refuse plan agree learn forget/forgot/forgotten manage
    begin/began/begun prefer/preferred/preferred offer hesitate threaten
subject: person relation
manner: speak

frame: object-control
verbs: ask persuade tell/told/told force help allow teach/taught/taught encourage advise order invite
    beg/begged/begged urge
subject: person relation
object: person
manner: speak

frame: perception
verbs: see/saw/seen hear/heard/heard watch let/let/let help make/made/made
subject: person
object: person

frame: copula
verbs: be/was/been be/was/been seem become/became/become remain
subject: person person person relation relation animal food document vehicle garment furniture building
    event topic container
""",
    verb,
)
