import HeartwoodStore

/// GRDB has a type of this name too. In these tests it is always Heartwood's.
typealias PersistenceError = HeartwoodStore.PersistenceError
