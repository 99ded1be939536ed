extension Operation: CustomStringConvertible {
  var description: String {
    switch self {
    case .insert(let key, let entity, let context): "insert \(entity) #\(key) in \(context)"
    case .set(let key, let name, let value, let route, let context):
      "set #\(key).\(name) = \(value) by \(route) in \(context)"
    case .relate(let key, let name, let keys, let route, let context):
      "relate #\(key).\(name) to \(list(keys)) by \(route) in \(context)"
    case .delete(let key, let context): "delete #\(key) in \(context)"
    case .read(let key, let context): "read #\(key) in \(context)"
    case .fetch(let entity, let context): "fetch \(entity) in \(context)"
    case .count(let entity, let context): "count \(entity) in \(context)"
    case .fetchWhere(let query, let context): "fetch \(query) in \(context)"
    case .merge(let context, let other): "merge into \(context) what \(other) has saved"
    case .pin(let context): "pin \(context)"
    case .pinBack(let context, let number): "pin \(context) to version \(number)"
    case .unpin(let context): "unpin \(context)"
    case .save(let context, let thenParents): "save \(context)\(thenParents ? ", then its parents" : "")"
    case .saveWithFault(let number, let context): "save \(context) with a fault at step \(number) of the file system"
    case .misuse(let misuse, let key, let name, let other, let context):
      "misuse #\(key).\(name) and #\(other) in \(context): \(misuse)"
    case .rollback(let context): "roll back \(context)"
    case .reset(let context): "reset \(context)"
    case .refresh(let key, let mergingChanges, let context):
      "refresh #\(key)\(mergingChanges ? ", merging changes," : "") in \(context)"
    case .processPendingChanges(let context): "process pending changes of \(context)"
    case .undo(let context): "undo in \(context)"
    case .redo(let context): "redo in \(context)"
    case .release(let key, let context): "release #\(key) in \(context)"
    case .readAll(let context): "read all in \(context)"
    case .convert(let kind): "convert to \(kind)"
    case .inspect: "inspect the file"
    case .history(let request): "\(request)"
    case .purgeHistory(let number): "purge the history up to \(number)"
    case .reopen: "reopen"
    }
  }

  private func list(_ keys: [Key]) -> String {
    "[\(keys.map { "#\($0)" }.joined(separator: " "))]"
  }
}
