/// A statement that is sent together with others.
struct QueuedStatement {
  let text: String
  let parameters: [PostgreSQLParameter]
  /// Whether the statement is prepared on first use, because it is used again.
  var isPrepared = true
  /// Returns the error to throw if the server refuses the statement.
  var meaning: (PostgreSQLError) -> any Error = { $0 }

  func error(_ error: PostgreSQLError) -> any Error { error.isOfConnection ? error : meaning(error) }
}

/// The statements that are sent with the next one whose result is needed.
struct StatementQueue {
  private(set) var statements: [QueuedStatement] = []
  private var byteCount = 0
  /// The maximum numbers of statements and bytes that wait. They limit memory, and a long save is written while the
  /// rest of it is prepared.
  private static let (greatestCount, greatestByteCount) = (64, 1 << 20)

  var isFull: Bool { statements.count >= Self.greatestCount || byteCount >= Self.greatestByteCount }

  mutating func append(_ statement: QueuedStatement) {
    statements.append(statement)
    byteCount += statement.parameters.reduce(statement.text.utf8.count) { $0 + ($1.bytes?.count ?? 0) }
  }

  /// Removes and returns all statements.
  mutating func takeAll() -> [QueuedStatement] {
    defer { self = StatementQueue() }
    return statements
  }
}

/// The statements that a connection has prepared on the server.
struct PreparedStatements {
  private var names: [String: String] = [:]
  /// The texts in the order of their preparation.
  private var texts: [String] = []
  private var count = 0
  /// The maximum number of statements that are kept: each takes memory on the server.
  private static let greatestCount = 256

  var isFull: Bool { texts.count >= Self.greatestCount }

  func name(of text: String) -> String? { names[text] }

  mutating func nextName() -> String {
    count += 1
    return "heartwood_\(count)"
  }

  mutating func add(_ name: String, of text: String) {
    names[text] = name
    texts.append(text)
  }

  /// Forgets the oldest statement, and returns its name.
  mutating func removeOldest() -> String? {
    texts.isEmpty ? nil : names.removeValue(forKey: texts.removeFirst())
  }
}

// MARK: Sending

extension PostgreSQLConnection {
  /// Queues a statement whose result is not needed. It is sent with the next statement that is run, in one round trip,
  /// and an error of it is thrown then: ``QueuedStatement/meaning`` gives it its meaning.
  func queue(
    _ text: String,
    _ parameters: [PostgreSQLParameter],
    _ meaning: @escaping (PostgreSQLError) -> any Error = { $0 }
  ) throws {
    queue.append(QueuedStatement(text: text, parameters: parameters, meaning: meaning))
    if queue.isFull { try sendQueue() }
  }

  /// Forgets the statements that were not sent.
  func clearQueue() { _ = queue.takeAll() }

  /// Sends the queued statements, and waits for their results.
  func sendQueue() throws {
    let statements = queue.takeAll()
    guard !statements.isEmpty else { return }
    try send(statements)
  }

  /// Sends the queued statements and another one, and returns the result of the latter.
  func sendQueue(followedBy last: QueuedStatement) throws -> PostgreSQLResult {
    let result = try send(queue.takeAll() + [last])
    guard let result else { throw lostError }
    return result
  }

  /// Sends statements in one round trip if libpq can, or else one after the other, until one fails.
  @discardableResult
  private func send(_ statements: [QueuedStatement]) throws -> PostgreSQLResult? {
    let isAlone = statements.count == 1 && !statements.contains { isUnprepared($0) }
    if let pipeline = library.pipeline, !isAlone { return try Flight(self, pipeline).run(statements) }
    var last: PostgreSQLResult?
    for statement in statements {
      do {
        last = try runAlone(statement)
      } catch let error as PostgreSQLError {
        throw statement.error(error)
      }
    }
    return last
  }

  fileprivate func isUnprepared(_ statement: QueuedStatement) -> Bool {
    statement.isPrepared && prepared.name(of: statement.text) == nil
  }
}

/// Several statements in one round trip. If one fails, the server skips those after it.
private struct Flight {
  private let connection: PostgreSQLConnection
  private let pipeline: LibPQ.Pipeline
  /// The statement that failed first, and its error.
  private var failure: (any Error)?
  private var last: PostgreSQLResult?
  /// The names of the statements that are prepared in this flight, by their text.
  private var preparing: [String: String] = [:]

  init(_ connection: PostgreSQLConnection, _ pipeline: LibPQ.Pipeline) {
    (self.connection, self.pipeline) = (connection, pipeline)
  }

  /// How a statement is sent.
  private enum Form {
    case prepared(name: String)
    case preparing(name: String)
    case once
  }

  func run(_ statements: [QueuedStatement]) throws -> PostgreSQLResult? {
    if statements.count == 1 { try connection.makeRoomForPreparedStatement() }
    var flight = self
    return try flight.fly(statements)
  }

  private mutating func fly(_ statements: [QueuedStatement]) throws -> PostgreSQLResult? {
    guard pipeline.enter(connection.connection) == 1 else { throw lost() }
    var forms: [Form] = []
    for statement in statements { forms.append(try send(statement)) }
    guard pipeline.synchronize(connection.connection) == 1 else { throw lost() }
    connection.countRoundTrip()
    for (statement, form) in zip(statements, forms) { try receive(statement, form) }
    guard let end = connection.library.nextResult(connection.connection) else { throw lost() }
    let isSynchronized = connection.library.resultStatus(end) == LibPQ.ResultStatus.pipelineSynchronized
    connection.library.clear(end)
    guard isSynchronized, pipeline.exit(connection.connection) == 1 else { throw lost() }
    if let failure { throw failure }
    return last
  }

  /// Gives the connection up, because results of it may be outstanding.
  private func lost() -> any Error {
    connection.isBroken = true
    return failure ?? connection.lostError
  }

  private mutating func send(_ statement: QueuedStatement) throws -> Form {
    connection.observer?.observe(statement.text)
    let form = form(of: statement)
    guard isSent(statement, form) else { throw lost() }
    return form
  }

  /// A statement is not prepared if another one would have to be forgotten: the flight may contain that, too.
  private mutating func form(of statement: QueuedStatement) -> Form {
    guard statement.isPrepared else { return .once }
    let known = connection.prepared.name(of: statement.text) ?? preparing[statement.text]
    if let known { return .prepared(name: known) }
    if connection.prepared.isFull { return .once }
    let name = connection.prepared.nextName()
    preparing[statement.text] = name
    return .preparing(name: name)
  }

  private func isSent(_ statement: QueuedStatement, _ form: Form) -> Bool {
    let pointer = connection.connection
    return connection.withValues(statement.parameters) { count, types, values, lengths, formats in
      func run(_ name: String) -> Bool {
        name.withCString { pipeline.sendPrepared(pointer, $0, count, values, lengths, formats, LibPQ.binary) == 1 }
      }
      switch form {
      case .prepared(let name): return run(name)
      case .preparing(let name):
        let isPrepared = name.withCString { name in
          statement.text.withCString { pipeline.sendPrepare(pointer, name, $0, count, types) == 1 }
        }
        return isPrepared && run(name)
      case .once:
        return statement.text.withCString {
          pipeline.sendStatement(pointer, $0, count, types, values, lengths, formats, LibPQ.binary) == 1
        }
      }
    }
  }

  private mutating func receive(_ statement: QueuedStatement, _ form: Form) throws {
    if case .preparing(let name) = form, try receiveResult(statement) != nil {
      connection.prepared.add(name, of: statement.text)
    }
    last = try receiveResult(statement)
  }

  /// Returns the result of one message; nil if it failed or was skipped.
  private mutating func receiveResult(_ statement: QueuedStatement) throws -> PostgreSQLResult? {
    let library = connection.library
    guard let pointer = library.nextResult(connection.connection) else { throw lost() }
    let result = PostgreSQLResult(pointer, library)
    let status = library.resultStatus(pointer)
    let isDone = status == LibPQ.ResultStatus.commandDone || status == LibPQ.ResultStatus.hasRows
    if !isDone, status != LibPQ.ResultStatus.pipelineAborted, failure == nil {
      failure = statement.error(connection.error(pointer))
    }
    // The results of a message end with a null pointer.
    while library.status(connection.connection) == LibPQ.connectionOK {
      guard let rest = library.nextResult(connection.connection) else { return isDone ? result : nil }
      library.clear(rest)
    }
    throw lost()
  }
}
