import HeartwoodFoundation
import HeartwoodStore

/// One connection to a server, which runs one statement at a time. Its methods block until the server answers.
///
/// `@unchecked Sendable`: libpq allows a connection to be used by any thread, one at a time, and the framework does so
/// with the store that owns it. Only ``cancel()`` may be called concurrently: the data it reads is created with the
/// connection and never changes, and libpq allows the call.
final class PostgreSQLConnection: @unchecked Sendable {
  let library: LibPQ
  let connection: OpaquePointer
  /// What the server accepts.
  let dialect: PostgreSQLDialect
  private let cancellation: OpaquePointer?
  let observer: PostgreSQLStatementObserver?
  /// The statements that are not sent yet.
  var queue = StatementQueue()
  /// Whether the connection is out of step with the server, so that it has to be made again.
  var isBroken = false
  var prepared = PreparedStatements()

  init(_ location: PostgreSQLLocation, options: StoreOptions) throws {
    library = try LibPQ.open(atPath: options[.postgresLibraryPath])
    observer = options[.postgresStatementObserver]
    let library = library
    let parameters = location.connectionParameters(options, prefersStandbys: library.pipeline != nil)
    connection = try Self.connect(library, parameters)
    cancellation = library.getCancel(connection)
    dialect = options[.postgresDialect] ?? PostgreSQLDialect(connection, library)
    _ = library.setNoticeProcessor(connection, { _, _ in }, nil)
    // From here on `deinit` closes the connection, also if this throws.
    try execute(Self.settings(options))
  }

  deinit {
    library.freeCancel(cancellation)
    library.finish(connection)
  }

  private static func connect(_ library: LibPQ, _ parameters: [String: String]) throws
    -> OpaquePointer
  {
    let pairs = parameters.sorted { $0.key < $1.key }
    let connection = withTexts(pairs.map(\.key)) { keywords in
      // The database name must not be parsed as a connection string, which could contain a password.
      withTexts(pairs.map(\.value)) { values in library.connect(keywords, values, 0) }
    }
    guard let connection else {
      throw PostgreSQLError(sqlState: nil, message: "libpq has no memory.")
    }
    if library.status(connection) == LibPQ.connectionOK { return connection }
    defer { library.finish(connection) }
    throw connectionError(text(library.errorMessage(connection)))
  }

  /// Calls `body` with a C array of strings, which ends with a null pointer.
  private static func withTexts<Result>(_ texts: [String], _ body: (LibPQ.Texts?) throws -> Result)
    rethrows -> Result
  {
    var bytes: [CChar] = []
    var offsets: [Int] = []
    for text in texts {
      offsets.append(bytes.count)
      bytes += text.utf8CString
    }
    return try bytes.withUnsafeBufferPointer { buffer in
      var pointers = offsets.map { offset in buffer.baseAddress.map { $0 + offset } }
      pointers.append(nil)
      return try pointers.withUnsafeBufferPointer { try body($0.baseAddress) }
    }
  }

  /// libpq reports no SQLSTATE if a connection could not be made. The state is derived from the text of the server's
  /// message, which is English unless the server is configured otherwise.
  private static func connectionError(_ message: String) -> PostgreSQLError {
    let states = [
      ("password authentication failed", "28P01"), ("no password supplied", "28P01"),
      ("authentication failed", "28000"), ("no pg_hba.conf entry", "28000"),
      ("is not permitted to log in", "28000"), ("too many connections", "53300"),
      ("too many clients", "53300"),
    ]
    let role = message.contains("role \"") && message.contains("does not exist")
    let database = message.contains("database \"") && message.contains("does not exist")
    let known = states.first { message.contains($0.0) }?.1
    return PostgreSQLError(
      sqlState: known ?? (role ? "28000" : database ? "3D000" : nil),
      message: message
    )
  }

  private static func settings(_ options: StoreOptions) -> String {
    var settings = [
      "SET client_min_messages = warning", "SET \(PostgreSQLSchema.ownSetting) = 'yes'",
      "SET lock_timeout = \(milliseconds(options[.postgresLockTimeout]))",
    ]
    if let timeout = options[.postgresStatementTimeout] {
      settings.append("SET statement_timeout = \(milliseconds(timeout))")
    }
    if options[.isReadOnly] { settings.append("SET default_transaction_read_only = on") }
    return settings.joined(separator: "; ")
  }

  private static func milliseconds(_ duration: Duration) -> Int64 {
    let (seconds, attoseconds) = duration.components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
    // 0 would mean no limit.
    return overflow
      ? Int64(Int32.max)
      : min(max(product + attoseconds / 1_000_000_000_000_000, 1), Int64(Int32.max))
  }

  static func text(_ text: UnsafePointer<CChar>?) -> String {
    var text = text.map { String(cString: $0) } ?? ""
    while text.last?.isNewline == true { text.removeLast() }
    return text
  }
}

extension PostgreSQLConnection {
  /// Whether the connection was lost and has to be made again.
  var isLost: Bool { isBroken || library.status(connection) != LibPQ.connectionOK }

  /// Whether no transaction is in progress.
  var isIdle: Bool { library.transactionStatus(connection) == LibPQ.TransactionStatus.idle }

  /// The server's version: 150020 means 15.20.
  var serverVersion: Int { Int(library.serverVersion(connection)) }

  /// Asks the server to cancel the running statement, which then fails with the state 57014. Any thread may call it.
  func cancel() {
    var message = [CChar](repeating: 0, count: 256)
    // A statement that cannot be cancelled runs to its end or to its time-out.
    _ = library.cancel(cancellation, &message, CInt(message.count))
  }
}

// MARK: Statements

extension PostgreSQLConnection {
  /// Runs statements without parameters, one after the other, and returns the result of the last one in text format.
  ///
  /// It sends the queued statements before, in a round trip of their own.
  @discardableResult
  func execute(_ text: String) throws -> PostgreSQLResult {
    try sendQueue()
    observer?.observe(text)
    countRoundTrip()
    return try checked(text.withCString { library.execute(connection, $0) })
  }

  /// Runs one statement, which is prepared on first use, and returns its result in binary format.
  ///
  /// It sends the queued statements before, in the same round trip.
  @discardableResult
  func run(_ text: String, _ parameters: [PostgreSQLParameter] = []) throws -> PostgreSQLResult {
    try sendQueue(followedBy: QueuedStatement(text: text, parameters: parameters))
  }

  /// Runs one statement that is not used again, without preparing it, and returns its result in binary format.
  ///
  /// It sends the queued statements before, in the same round trip.
  @discardableResult
  func runOnce(_ text: String, _ parameters: [PostgreSQLParameter] = []) throws -> PostgreSQLResult {
    try sendQueue(followedBy: QueuedStatement(text: text, parameters: parameters, isPrepared: false))
  }

  /// Runs a statement by itself.
  func runAlone(_ statement: QueuedStatement) throws -> PostgreSQLResult {
    let name = statement.isPrepared ? try preparedName(statement) : nil
    observer?.observe(statement.text)
    countRoundTrip()
    return try checked(
      withValues(statement.parameters) { count, types, values, lengths, formats in
        (name ?? statement.text).withCString { text in
          name == nil
            ? library.executeWithParameters(
              connection,
              text,
              count,
              types,
              values,
              lengths,
              formats,
              LibPQ.binary
            )
            : library.executePrepared(connection, text, count, values, lengths, formats, LibPQ.binary)
        }
      }
    )
  }

  private func preparedName(_ statement: QueuedStatement) throws -> String {
    if let name = prepared.name(of: statement.text) { return name }
    try makeRoomForPreparedStatement()
    let name = prepared.nextName()
    let types = statement.parameters.map(\.type.oid)
    countRoundTrip()
    try checked(
      name.withCString { name in
        statement.text.withCString { text in library.prepare(connection, name, text, CInt(types.count), types) }
      }
    )
    prepared.add(name, of: statement.text)
    return name
  }

  func makeRoomForPreparedStatement() throws {
    guard prepared.isFull, let name = prepared.removeOldest() else { return }
    let text = "DEALLOCATE \(name)"
    observer?.observe(text)
    countRoundTrip()
    try checked(text.withCString { library.execute(connection, $0) })
  }

  /// Counts that the client waits for the server.
  func countRoundTrip() { observer?.roundTrip?() }

  /// Calls `body` with the parameters as libpq takes them: their count, types, addresses, lengths and formats.
  func withValues<Result>(
    _ parameters: [PostgreSQLParameter],
    _ body: (CInt, UnsafePointer<UInt32>?, LibPQ.Texts?, UnsafePointer<CInt>?, UnsafePointer<CInt>?)
      -> Result
  ) -> Result {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(parameters.reduce(1) { $0 + ($1.bytes?.count ?? 0) })
    var offsets: [Int?] = []
    for parameter in parameters {
      offsets.append(parameter.bytes == nil ? nil : bytes.count)
      if let value = parameter.bytes { bytes += value }
    }
    // An empty value needs an address too: without one, libpq would send NULL.
    bytes.append(0)
    return bytes.withUnsafeBytes { buffer in
      let start = buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
      let values = offsets.map { offset in offset.flatMap { offset in start.map { $0 + offset } } }
      let lengths = parameters.map { CInt(clamping: $0.bytes?.count ?? 0) }
      let formats = [CInt](repeating: LibPQ.binary, count: parameters.count)
      return values.withUnsafeBufferPointer { values in
        body(
          CInt(parameters.count),
          parameters.map(\.type.oid),
          values.baseAddress,
          lengths,
          formats
        )
      }
    }
  }

  @discardableResult
  func checked(_ result: OpaquePointer?) throws -> PostgreSQLResult {
    guard let result else { throw lostError }
    let status = library.resultStatus(result)
    let owner = PostgreSQLResult(result, library)
    if status == LibPQ.ResultStatus.commandDone || status == LibPQ.ResultStatus.hasRows {
      return owner
    }
    if status == LibPQ.ResultStatus.copyIn || status == LibPQ.ResultStatus.copyOut { return owner }
    throw error(result)
  }

  var lostError: PostgreSQLError {
    PostgreSQLError(sqlState: nil, message: Self.text(library.errorMessage(connection)))
  }

  func error(_ result: OpaquePointer) -> PostgreSQLError {
    func field(_ code: CInt) -> String? {
      library.resultErrorField(result, code).map { String(cString: $0) }
    }
    let state = field(LibPQ.ErrorField.state)
    return PostgreSQLError(
      sqlState: state,
      message: field(LibPQ.ErrorField.message) ?? Self.text(library.errorMessage(connection)),
      constraintName: field(LibPQ.ErrorField.constraint),
      tableName: field(LibPQ.ErrorField.table)
    )
  }
}

// MARK: Copying

extension PostgreSQLConnection {
  /// The number of bytes that are passed to libpq at once.
  private static let copyChunkSize = 1 << 18

  /// Sends rows to a `COPY … FROM STDIN (FORMAT binary)`.
  ///
  /// - Parameter body: appends the fields of each row, and calls the closure it is given after each row.
  func copyIn(
    _ text: String,
    _ body: (inout [UInt8], _ endRow: (inout [UInt8]) throws -> Void) throws -> Void
  ) throws {
    try sendQueue()
    observer?.observe(text)
    countRoundTrip()
    try checked(text.withCString { library.execute(connection, $0) })
    var buffer = CopyFormat.header
    do {
      try body(&buffer) { buffer in
        if buffer.count >= Self.copyChunkSize { try send(&buffer) }
      }
      buffer += CopyFormat.trailer
      try send(&buffer)
    } catch {
      // The statement fails, which undoes the rows that were sent.
      _ = "interrupted".withCString { library.putCopyEnd(connection, $0) }
      // try?: the error that interrupted the copy is already known.
      try? finishResults()
      throw error
    }
    guard library.putCopyEnd(connection, nil) == 1 else { throw lostError }
    countRoundTrip()
    try finishResults()
  }

  private func send(_ buffer: inout [UInt8]) throws {
    let code = buffer.withUnsafeBytes { bytes in
      library.putCopyData(
        connection,
        bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
        CInt(bytes.count)
      )
    }
    guard code == 1 else { throw lostError }
    buffer.removeAll(keepingCapacity: true)
  }

  /// Reads the remaining results of a statement, and throws the error among them, if any.
  private func finishResults() throws {
    var failure: PostgreSQLError?
    while let result = library.nextResult(connection) {
      let status = library.resultStatus(result)
      if status != LibPQ.ResultStatus.commandDone, status != LibPQ.ResultStatus.hasRows {
        failure = failure ?? error(result)
      }
      library.clear(result)
    }
    if let failure { throw failure }
  }

  /// Reads the rows of a query without parameters: by `COPY`, which is faster, if the server has it.
  ///
  /// - Parameter body: receives the fields of each row, which are valid during the call.
  func readRows(of query: String, _ body: (PostgreSQLRow) throws -> Void) throws {
    if dialect.copiesRowsOut {
      try copyOut("COPY (\(query)) TO STDOUT (FORMAT binary)", body)
    } else {
      try runOnce(query).forEachRow(body)
    }
  }

  /// Reads the rows of a `COPY … TO STDOUT (FORMAT binary)`.
  ///
  /// - Parameter body: receives the fields of each row, which are valid during the call.
  func copyOut(_ text: String, _ body: (PostgreSQLRow) throws -> Void) throws {
    try sendQueue()
    observer?.observe(text)
    countRoundTrip()
    try checked(text.withCString { library.execute(connection, $0) })
    var reader = CopyReader()
    while true {
      var piece: UnsafeMutablePointer<CChar>?
      let count = library.getCopyData(connection, &piece, 0)
      guard count > 0 else { break }
      defer { library.freeMemory(piece) }
      do {
        try reader.read(UnsafeRawBufferPointer(start: piece, count: Int(count)), body)
      } catch {
        cancel()
        dropCopyData()
        // try?: the error that stopped the copy is already known.
        try? finishResults()
        throw error
      }
    }
    try finishResults()
  }

  /// Discards the rows that the server sent before it stopped.
  private func dropCopyData() {
    while true {
      var piece: UnsafeMutablePointer<CChar>?
      guard library.getCopyData(connection, &piece, 0) > 0 else { return }
      library.freeMemory(piece)
    }
  }
}
