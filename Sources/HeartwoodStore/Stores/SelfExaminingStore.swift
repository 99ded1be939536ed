/// A store whose file may be damaged where reading all records does not show it.
package protocol SelfExaminingStore: IncrementalStore {
  /// What is wrong with the file, up to `limit` sentences. It takes as long as reading the whole file.
  func faults(limit: Int) throws -> [String]
}
