"""The other English words: names, adverbs, numbers, expressions of time, conjunctions."""

from __future__ import annotations

from tables import read_table, words

FIRST_NAMES = words(
    """Anna Peter Mary John Clara Tom Ruth David Lucy Henry Emma George Alice Martin Sarah Paul Julia
    Walter Nora Simon Helen Oscar Rose Frank Edith Hugo Laura Victor Agnes Philip Irene Ralph
    Martha Leo Sylvia Felix Judith Arthur Vera Conrad Flora Edmund Celia Gilbert Mabel Rupert
    Winifred Jasper"""
)
SURNAME_STEMS = words(
    """Hart Black Whit Green Ash Wood Brad Thorn Hollo Marsh Stan Red Cald Lang Wink Farn Pem Hather Brom Quin
    Lock Cress Fair Eld Rad Hurst Wake Sand Penn Dun"""
)
SURNAME_ENDS = words("ley son well man ton field worth more ham croft")
TOWN_STEMS = words(
    """Elm Ash Brook Stone Mill Oak Raven North Clear Fern Swan Hazel West Lamb Thorn Kings Heather Rock
    Silver Otter Birch Wren Fox Marsh Holly Long Cold Sand Apple Barn"""
)
TOWN_ENDS = words("ford bridge ton field wick mouth bury port stead combe")
DEGREE = words("very rather quite too extremely surprisingly fairly")
FREQUENCY = words("often never always sometimes rarely usually seldom occasionally")
SENTENCE_ADVERBS = words("perhaps fortunately however meanwhile apparently unfortunately evidently clearly")
DAYS = words("Monday Friday Sunday Tuesday Saturday Wednesday Thursday")
MONTHS = words("""May June January October April March December August July September February November""")
PERIODS = words("week month year night summer winter spring autumn Monday Friday")
NUMBERS = words("two three four five ten six twelve seven twenty eight nine thirty")
MODALS = words("can could must should may might")
SUBORDINATORS = words("because when although if while before after since until unless")
# Adverbs of manner by the kind of verb they go with; `both` holds those that go with all.
MANNER = read_table("""
speak: politely loudly openly firmly quietly patiently reluctantly honestly bitterly cheerfully solemnly
    bluntly
move: quickly slowly suddenly unexpectedly gradually silently rapidly swiftly abruptly steadily
handle: carefully skilfully secretly gently expertly clumsily thoroughly hastily diligently cheaply
both: quickly quietly calmly happily eagerly gladly
""")
TIME_ADVERBS = read_table("""
past: yesterday recently then earlier
future: tomorrow soon later tonight
present: today now nowadays
perfect: recently today lately
""")
