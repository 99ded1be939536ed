/// One thing that an undo takes back.
struct UndoAction {
  private enum Body {
    case handler((AnyObject) -> Void)
    case event(GraphEvent)
  }

  /// What it is done to. Where that is gone, there is nothing left to undo.
  private(set) weak var target: AnyObject?
  private var body: Body

  init<Target: AnyObject>(_ target: Target, _ handler: @escaping (Target) -> Void) {
    self.target = target
    self.body = .handler { target in
      if let target = target as? Target { handler(target) }
    }
  }

  init(_ context: ManagedObjectContext, reverting event: GraphEvent) {
    self.target = context
    self.body = .event(event)
  }

  func run() {
    guard let target else { return }
    switch body {
    case .handler(let handler): handler(target)
    case .event(let event): (target as? ManagedObjectContext)?.revert(event)
    }
  }

  /// The event of `context` that is reverted, where it is one.
  func event(of context: ManagedObjectContext) -> GraphEvent? {
    guard target === context, case .event(let event) = body else { return nil }
    return event
  }

  /// Replaces the event that is reverted, where it is one.
  mutating func replaceEvent(_ transform: (GraphEvent) -> GraphEvent) {
    if case .event(let event) = body { body = .event(transform(event)) }
  }
}

/// What one undo takes back, in the order in which it was done.
struct UndoGroup {
  var name = ""
  var actions: [UndoAction] = []
}
