/// Leads to who keeps a context, as long as that is there.
///
/// Others than the host call what it has left with them, such as the one who saves to its context. They pass this on to where the context
/// is used, and never hold the host themselves: if their reference were the last, the context would go on their thread.
final class WeakHost<Host: AnyObject & Sendable>: Sendable {
  weak let value: Host?

  init(_ value: Host) {
    self.value = value
  }
}
