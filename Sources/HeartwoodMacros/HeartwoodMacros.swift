@_exported public import Heartwood
