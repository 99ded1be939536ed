import HeartwoodStore

/// The code of the error that `body` throws, or nil where it throws none of the library's.
func errorCode(_ body: () throws -> Void) -> PersistenceError.Code? {
  do {
    try body()
    return nil
  } catch {
    return (error as? PersistenceError)?.code
  }
}
