package import HeartwoodStore

/// GRDB has a type of this name too. In this module it is always Heartwood's.
package typealias PersistenceError = HeartwoodStore.PersistenceError
