"""The other Dutch words: names, adverbs, numbers, expressions of time, conjunctions."""

from __future__ import annotations

from tables import read_table, words

FIRST_NAMES = words(
    """Jan Anna Piet Marie Kees Lotte Willem Sofie Hendrik Emma Bram Lies Maarten Sara Joris Julia Pieter
    Femke Daan Roos Gerrit Hanna Klaas Eva Dirk Tess Ruben Saskia Wouter Ineke Bas Mieke Teun
    Marijke Floris Jet Sjoerd Greet Koen Liesbeth"""
)
SURNAME_STEMS = words(
    """Berk Hof Veld Brink Bos Dijk Water Meer Steen Linde Eik Molen Heuvel Zand Kamp Broek Ven Haag"""
)
SURNAME_ENDS = words("stra man sma horst kamp huis berg veld dijk ma")
TOWN_STEMS = words(
    """Elzen Berg Water Linden Molen Ooster Zand Eiken Noord Berken Zwanen Wester Lammer Hazel Heide
    Zilver Otter Hoog"""
)
TOWN_ENDS = words("dam veen hoven dorp burg wijk stad beek dijk meer")
DEGREE = words("heel erg nogal tamelijk te bijzonder verrassend")
FREQUENCY = words("vaak nooit altijd soms zelden meestal")
SENTENCE_ADVERBS = words("""misschien gelukkig waarschijnlijk blijkbaar helaas ondertussen kennelijk vermoedelijk""")
DAYS = words("maandag vrijdag zondag dinsdag zaterdag woensdag donderdag")
MONTHS = words("""mei juni januari oktober maart april december augustus juli september februari november""")
PERIODS = words("week maand zomer winter herfst lente")
NUMBERS = words("twee drie vier vijf tien zes twaalf zeven twintig acht negen dertig")
# Adverbs of manner by the kind of verb they go with; `both` holds those that go with all.
MANNER = read_table("""
speak: beleefd luid openlijk vastberaden zachtjes geduldig eerlijk bitter opgewekt plechtig
move: snel langzaam plotseling onverwacht geleidelijk geruisloos
handle: voorzichtig behendig stiekem zorgvuldig onhandig grondig haastig vakkundig
both: rustig snel graag kalm gretig
""")
TIME_ADVERBS = read_table("""
past: gisteren onlangs toen eergisteren vroeger
future: morgen straks later overmorgen vanavond
present: vandaag nu tegenwoordig
""")
SUBORDINATORS = read_table("""
past: omdat toen hoewel terwijl voordat zodra
present: omdat als hoewel terwijl voordat zodra tenzij
""")
# The preposition as it stands without its noun (daar ... mee).
STRANDED = {"met": "mee", "tot": "toe"}
