import Heartwood
import HeartwoodStore

// GRDB has types of these names too. In these tests they are always Heartwood's.

typealias PersistenceError = HeartwoodStore.PersistenceError
typealias ObjectRequest = FetchRequest<ManagedObject>
