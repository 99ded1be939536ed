@_exported public import HeartwoodModel
@_exported public import HeartwoodStore
