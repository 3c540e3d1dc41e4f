"""The Dutch verbs, grouped by what they select.

A verb is `infinitive/stem` if weak, else `infinitive/stem/past/past plural/participle`; `~` before it asks
for the perfect with zijn, `op_` is a separable particle, `:op` the preposition of its complement.
"""

from __future__ import annotations

from dataclasses import dataclass

from tables import read_groups


@dataclass(frozen=True)
class Verb:
    """A verb with its principal parts; `particle` is separable, `auxiliary` the verb of its perfect."""

    infinitive: str
    stem: str
    past: str
    past_plural: str
    participle: str
    auxiliary: str
    particle: str = ""
    preposition: str = ""

    @property
    def lemma(self) -> str:
        return self.particle + self.infinitive


def verb(entry: str) -> Verb:
    """Read an entry; the weak forms follow from the infinitive ('t kofschip) and the stem."""
    auxiliary = "zijn" if entry.startswith("~") else "hebben"
    entry, _, preposition = entry.lstrip("~").partition(":")
    particle, _, entry = entry.rpartition("_")
    infinitive, stem, *forms = entry.split("/")
    if not forms:
        dental = "t" if infinitive.removesuffix("en")[-1] in "tkfschpx" else "d"
        bare = stem.startswith(("be", "ver", "ont", "her", "ge")) and len(stem) > 4
        past_stem = stem if bare else "ge" + {"e": "ë", "i": "ï"}.get(stem[0], stem[0]) + stem[1:]
        forms = [stem + dental + "e", stem + dental + "en", past_stem + ("" if stem[-1] in "td" else dental)]
    return Verb(infinitive, stem, *forms, auxiliary, particle, preposition)


GROUPS = read_groups(
    """
frame: transitive
verbs: eten/eet/at/aten/gegeten koken/kook bakken/bak/bakte/bakten/gebakken proeven/proef serveren/serveer
    delen/deel bestellen/bestel grillen/gril verslinden/verslind/verslond/verslonden/verslonden
    op_warmen/warm kruiden/kruid op_eten/eet/at/aten/gegeten
subject: person
object: food
modifiers: met-cutlery in-room op-event voor-person

frame: transitive
verbs: drinken/drink/dronk/dronken/gedronken in_schenken/schenk/schonk/schonken/geschonken morsen/mors
    zetten/zet bestellen/bestel
subject: person
object: drink
modifiers: in-room op-event voor-person

frame: transitive
verbs: lezen/lees/las/lazen/gelezen schrijven/schrijf/schreef/schreven/geschreven bestuderen/bestudeer
    ondertekenen/onderteken/ondertekende/ondertekenden/ondertekend kopiëren/kopieer vertalen/vertaal
    drukken/druk corrigeren/corrigeer verbranden/verbrand citeren/citeer samen_vatten/vat
    uit_geven/geef/gaf/gaven/gegeven herschrijven/herschrijf/herschreef/herschreven/herschreven
subject: person
object: document
modifiers: in-room met-optic met-pen voor-person op-event in-vehicle

frame: transitive
verbs: repareren/repareer schilderen/schilder bouwen/bouw schoon_maken/maak poetsen/poets
    versieren/versier meten/meet/mat/maten/gemeten herstellen/herstel beschadigen/beschadig schuren/schuur
    inspecteren/inspecteer renoveren/renoveer op_knappen/knap slopen/sloop
subject: person
object: vehicle furniture building
modifiers: met-tool in-place voor-person na-event

frame: transitive
verbs: zien/zie/zag/zagen/gezien fotograferen/fotografeer observeren/observeer herkennen/herken
    filmen/film tekenen/teken schetsen/schets ontdekken/ontdek bespieden/bespied
subject: person
object: person animal vehicle building
modifiers: met-optic door-optic vanuit-building vanuit-vehicle bij-place op-event

frame: transitive
verbs: helpen/help/hielp/hielpen/geholpen ontmoeten/ontmoet bedanken/bedank
    bezoeken/bezoek/bezocht/bezochten/bezocht groeten/groet volgen/volg vertrouwen/vertrouw
    prijzen/prijs/prees/prezen/geprezen waarschuwen/waarschuw op_bellen/bel uit_nodigen/nodig
    beledigen/beledig verdedigen/verdedig bewonderen/bewonder interviewen/interview feliciteren/feliciteer
subject: person
object: person
modifiers: in-place op-event na-event bij-building
manner: speak

frame: transitive
verbs: kopen/koop/kocht/kochten/gekocht vinden/vind/vond/vonden/gevonden
    verkopen/verkoop/verkocht/verkochten/verkocht lenen/leen verliezen/verlies/verloor/verloren/verloren
    stelen/steel/stal/stalen/gestolen verbergen/verberg/verborg/verborgen/verborgen
    kiezen/kies/koos/kozen/gekozen bewaren/bewaar verzamelen/verzamel huren/huur
    ontvangen/ontvang/ontving/ontvingen/ontvangen weg_gooien/gooi
    terug_brengen/breng/bracht/brachten/gebracht op_ruimen/ruim mee_nemen/neem/nam/namen/genomen
subject: person
object: document furniture garment vehicle tool instrument container
modifiers: van-person voor-person in-place op-event in-town bij-building

frame: transitive
verbs: dragen/draag/droeg/droegen/gedragen strijken/strijk/streek/streken/gestreken
    op_vouwen/vouw/vouwde/vouwden/gevouwen verstellen/verstel wassen/was/waste/wasten/gewassen
    aan_trekken/trek/trok/trokken/getrokken uit_trekken/trek/trok/trokken/getrokken verven/verf
subject: person
object: garment
modifiers: op-event in-room voor-person met-tool

frame: transitive
verbs: planten/plant snoeien/snoei kweken/kweek plukken/pluk om_hakken/hak
    begieten/begiet/begoot/begoten/begoten
subject: person
object: plant
modifiers: met-tool in-place voor-person bij-building

frame: transitive
verbs: bespreken/bespreek/besprak/bespraken/besproken organiseren/organiseer uit_leggen/leg noemen/noem
    vergeten/vergeet/vergat/vergaten/vergeten beschrijven/beschrijf/beschreef/beschreven/beschreven
    uit_stellen/stel af_zeggen/zeg/zei/zeiden/gezegd bekritiseren/bekritiseer aan_kondigen/kondig
    voor_bereiden/bereid/bereidde/bereidden/bereid analyseren/analyseer
subject: person
object: event topic
modifiers: met-person in-room op-event na-event in-document
manner: speak

frame: transitive
verbs: voeren/voer verjagen/verjaag borstelen/borstel vangen/vang/ving/vingen/gevangen redden/red
    aaien/aai temmen/tem scheren/scheer/schoor/schoren/geschoren
subject: person
object: animal
modifiers: met-tool in-place bij-building met-food

frame: transitive
verbs: bespelen/bespeel stemmen/stem dragen/draag/droeg/droegen/gedragen horen/hoor
subject: person
object: instrument
modifiers: op-event in-room voor-person

frame: transitive
verbs: vullen/vul breken/breek/brak/braken/gebroken legen/leeg af_wassen/was/waste/wasten/gewassen
    op_tillen/til schudden/schud
subject: person
object: container
modifiers: met-drink met-tool in-room voor-person

frame: intransitive
verbs: lachen/lach/lachte/lachten/gelachen zingen/zing/zong/zongen/gezongen werken/werk
    slapen/slaap/sliep/sliepen/geslapen dansen/dans huilen/huil fluisteren/fluister rusten/rust
    niezen/nies aarzelen/aarzel klagen/klaag gapen/gaap bidden/bid/bad/baden/gebeden
subject: person relation
modifiers: in-room op-event tijdens-event met-person bij-building
manner: speak

frame: intransitive
verbs: ~lopen/loop/liep/liepen/gelopen ~reizen/reis ~rijden/rijd/reed/reden/gereden ~fietsen/fiets
    ~zwemmen/zwem/zwom/zwommen/gezwommen ~varen/vaar/voer/voeren/gevaren ~wandelen/wandel
    ~klimmen/klim/klom/klommen/geklommen ~rennen/ren
subject: person relation
modifiers: naar-place naar-town langs-place door-place
manner: move

frame: intransitive
verbs: ~komen/kom/kwam/kwamen/gekomen ~vertrekken/vertrek/vertrok/vertrokken/vertrokken
    ~aan_komen/kom/kwam/kwamen/gekomen ~terug_keren/keer
    ~verschijnen/verschijn/verscheen/verschenen/verschenen
    ~verdwijnen/verdwijn/verdween/verdwenen/verdwenen ~stoppen/stop ~weg_gaan/ga/ging/gingen/gegaan
    ~ontsnappen/ontsnap
subject: person relation animal vehicle
modifiers: uit-town in-place op-event bij-building na-event
manner: move

frame: intransitive
verbs: ~beginnen/begin/begon/begonnen/begonnen ~eindigen/eindig
    ~mislukken/misluk/mislukte/mislukten/mislukt ~door_gaan/ga/ging/gingen/gegaan
subject: event
modifiers: in-building in-town na-event
manner: move

frame: intransitive
verbs: ~in_storten/stort ~vallen/val/viel/vielen/gevallen ~af_branden/brand
    ~om_vallen/val/viel/vielen/gevallen rotten/rot
subject: building furniture
modifiers: tijdens-event na-event bij-place
manner: move

frame: intransitive
verbs: ~verschijnen/verschijn/verscheen/verschenen/verschenen
    ~verdwijnen/verdwijn/verdween/verdwenen/verdwenen ~op_duiken/duik/dook/doken/gedoken
subject: document garment instrument
modifiers: in-room in-town na-event
manner: move

frame: intransitive
verbs: grazen/graas slapen/slaap/sliep/sliepen/geslapen spelen/speel drinken/drink/dronk/dronken/gedronken
    springen/spring/sprong/sprongen/gesprongen brommen/brom
subject: animal
modifiers: in-place bij-building tijdens-event
manner: move

frame: intransitive
verbs: bloeien/bloei ~groeien/groei ~sterven/sterf/stierf/stierven/gestorven ~verwelken/verwelk
subject: plant
modifiers: in-place bij-building
manner: move

frame: prepositional
verbs: praten/praat:over spreken/spreek/sprak/spraken/gesproken:over
    na_denken/denk/dacht/dachten/gedacht:over schrijven/schrijf/schreef/schreven/geschreven:over
    klagen/klaag:over dromen/droom:over twisten/twist:over
subject: person relation
object: person event topic document animal
modifiers: in-room op-event met-person
manner: speak

frame: prepositional
verbs: kijken/kijk/keek/keken/gekeken:naar zoeken/zoek/zocht/zochten/gezocht:naar luisteren/luister:naar
    verlangen/verlang:naar
subject: person relation
object: person animal document vehicle
modifiers: vanuit-building met-optic in-place in-room

frame: prepositional
verbs: wachten/wacht:op rekenen/reken:op letten/let:op passen/pas:op mikken/mik:op
subject: person relation
object: person vehicle animal
modifiers: in-place bij-building op-event

frame: prepositional
verbs: denken/denk/dacht/dachten/gedacht:aan werken/werk:aan twijfelen/twijfel:aan mee_werken/werk:aan
subject: person relation
object: document person topic vehicle
modifiers: in-room met-person met-tool

frame: ditransitive
verbs: geven/geef/gaf/gaven/gegeven sturen/stuur tonen/toon aan_bieden/bied/bood/boden/geboden
    verkopen/verkoop/verkocht/verkochten/verkocht beloven/beloof
    overhandigen/overhandig/overhandigde/overhandigden/overhandigd
subject: person relation
object: document food garment container tool instrument
modifiers: op-event in-room

frame: report
verbs: zeggen/zeg/zei/zeiden/gezegd denken/denk/dacht/dachten/gedacht geloven/geloof beweren/beweer
    weten/weet/wist/wisten/geweten hopen/hoop horen/hoor merken/merk vertellen/vertel vermoeden/vermoed
    ontkennen/ontken vrezen/vrees toe_geven/geef/gaf/gaven/gegeven melden/meld
subject: person relation
manner: speak

frame: interrogative
verbs: vragen/vraag/vroeg/vroegen/gevraagd weten/weet/wist/wisten/geweten
subject: person relation
manner: speak

frame: control
verbs: proberen/probeer besluiten/besluit/besloot/besloten/besloten beloven/beloof weigeren/weiger
    hopen/hoop vergeten/vergeet/vergat/vergaten/vergeten ~beginnen/begin/begon/begonnen/begonnen
    durven/durf dreigen/dreig
subject: person relation
manner: speak

frame: object-control
verbs: dwingen/dwing/dwong/dwongen/gedwongen overtuigen/overtuig/overtuigde/overtuigden/overtuigd
    vragen/vraag/vroeg/vroegen/gevraagd verplichten/verplicht aan_moedigen/moedig smeken/smeek
subject: person relation
object: person
manner: speak

frame: perception
verbs: zien/zie/zag/zagen/gezien laten/laat/liet/lieten/gelaten horen/hoor
    helpen/help/hielp/hielpen/geholpen leren/leer
subject: person relation
object: person

frame: copula
verbs: ~zijn/ben/was/waren/geweest ~zijn/ben/was/waren/geweest lijken/lijk/leek/leken/geleken
    ~worden/word/werd/werden/geworden ~blijven/blijf/bleef/bleven/gebleven
subject: person person person relation animal food document vehicle garment furniture building event topic
    container
""",
    verb,
)
