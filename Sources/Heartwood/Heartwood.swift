@_exported public import HeartwoodFormats
@_exported public import HeartwoodModelFiles
@_exported public import HeartwoodGraph
@_exported public import HeartwoodModel
@_exported public import HeartwoodStore
