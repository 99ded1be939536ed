/// One thing that an undo takes back.
struct UndoAction {
  /// What it is done to. Where that is gone, there is nothing left to undo.
  private(set) weak var target: AnyObject?
  private let body: (AnyObject) -> Void

  init<Target: AnyObject>(_ target: Target, _ body: @escaping (Target) -> Void) {
    self.target = target
    self.body = { target in
      if let target = target as? Target { body(target) }
    }
  }

  func run() {
    if let target { body(target) }
  }
}

/// What one undo takes back, in the order in which it was done.
struct UndoGroup {
  var name = ""
  var actions: [UndoAction] = []
}
