import HeartwoodFoundation
import HeartwoodStore
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The functions of libpq, PostgreSQL's client library, which is opened when the first store needs it.
///
/// The library is not linked, so a program that never opens a PostgreSQL store neither needs libpq nor loads the
/// libraries it depends on. Only this file knows the names and types of its functions, which are those of `libpq-fe.h`.
struct LibPQ: Sendable {
  typealias Text = UnsafePointer<CChar>
  typealias Texts = UnsafePointer<UnsafePointer<CChar>?>

  let connect: @convention(c) (Texts?, Texts?, CInt) -> OpaquePointer?
  let finish: @convention(c) (OpaquePointer?) -> Void
  let status: @convention(c) (OpaquePointer?) -> CInt
  let errorMessage: @convention(c) (OpaquePointer?) -> Text?
  let serverVersion: @convention(c) (OpaquePointer?) -> CInt
  let transactionStatus: @convention(c) (OpaquePointer?) -> CInt
  let parameterStatus: @convention(c) (OpaquePointer?, Text?) -> Text?
  let setNoticeProcessor:
    @convention(c) (
      OpaquePointer?, (@convention(c) (UnsafeMutableRawPointer?, Text?) -> Void)?,
      UnsafeMutableRawPointer?
    )
      -> UnsafeMutableRawPointer?

  let execute: @convention(c) (OpaquePointer?, Text?) -> OpaquePointer?
  let executeWithParameters:
    @convention(c) (
      OpaquePointer?, Text?, CInt, UnsafePointer<UInt32>?, Texts?, UnsafePointer<CInt>?,
      UnsafePointer<CInt>?, CInt
    ) -> OpaquePointer?
  let prepare: @convention(c) (OpaquePointer?, Text?, Text?, CInt, UnsafePointer<UInt32>?) -> OpaquePointer?
  let executePrepared:
    @convention(c) (
      OpaquePointer?, Text?, CInt, Texts?, UnsafePointer<CInt>?, UnsafePointer<CInt>?, CInt
    ) -> OpaquePointer?

  let resultStatus: @convention(c) (OpaquePointer?) -> CInt
  let resultErrorField: @convention(c) (OpaquePointer?, CInt) -> Text?
  let clear: @convention(c) (OpaquePointer?) -> Void
  let rowCount: @convention(c) (OpaquePointer?) -> CInt
  let columnCount: @convention(c) (OpaquePointer?) -> CInt
  let columnType: @convention(c) (OpaquePointer?, CInt) -> UInt32
  let value: @convention(c) (OpaquePointer?, CInt, CInt) -> UnsafeMutablePointer<CChar>?
  let length: @convention(c) (OpaquePointer?, CInt, CInt) -> CInt
  let isNull: @convention(c) (OpaquePointer?, CInt, CInt) -> CInt
  let affectedCount: @convention(c) (OpaquePointer?) -> Text?

  let nextResult: @convention(c) (OpaquePointer?) -> OpaquePointer?
  let putCopyData: @convention(c) (OpaquePointer?, Text?, CInt) -> CInt
  let putCopyEnd: @convention(c) (OpaquePointer?, Text?) -> CInt
  let getCopyData:
    @convention(c) (OpaquePointer?, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, CInt) ->
      CInt
  let freeMemory: @convention(c) (UnsafeMutableRawPointer?) -> Void

  let getCancel: @convention(c) (OpaquePointer?) -> OpaquePointer?
  let cancel: @convention(c) (OpaquePointer?, UnsafeMutablePointer<CChar>?, CInt) -> CInt
  let freeCancel: @convention(c) (OpaquePointer?) -> Void

  /// The functions that send several statements at once; nil for a library older than PostgreSQL 14, which has none.
  let pipeline: Pipeline?

  struct Pipeline: Sendable {
    let enter: @convention(c) (OpaquePointer?) -> CInt
    let exit: @convention(c) (OpaquePointer?) -> CInt
    let synchronize: @convention(c) (OpaquePointer?) -> CInt
    let sendPrepare: @convention(c) (OpaquePointer?, Text?, Text?, CInt, UnsafePointer<UInt32>?) -> CInt
    let sendPrepared:
      @convention(c) (
        OpaquePointer?, Text?, CInt, Texts?, UnsafePointer<CInt>?, UnsafePointer<CInt>?, CInt
      ) -> CInt
    let sendStatement:
      @convention(c) (
        OpaquePointer?, Text?, CInt, UnsafePointer<UInt32>?, Texts?, UnsafePointer<CInt>?,
        UnsafePointer<CInt>?, CInt
      ) -> CInt
  }
}

// MARK: Opening

extension LibPQ {
  private static let opened = Mutex<[String: LibPQ]>([:])

  /// The names under which the library is found, and the paths at which package managers install it.
  static var names: [String] {
    #if canImport(Darwin)
      [
        "libpq.5.dylib", "/opt/homebrew/opt/libpq/lib/libpq.5.dylib",
        "/usr/local/opt/libpq/lib/libpq.5.dylib",
        "/Applications/Postgres.app/Contents/Versions/latest/lib/libpq.5.dylib",
      ]
    #else
      ["libpq.so.5"]
    #endif
  }

  /// Returns the library, and opens it if necessary. It stays open until the process ends.
  ///
  /// - Parameter path: the path of the library; nil means that the system searches for it.
  /// - Throws: ``PersistenceError/Code/capabilityMissing`` if it is not installed.
  static func open(atPath path: String? = nil) throws(PersistenceError) -> LibPQ {
    let names = path.map { [$0] } ?? names
    let found = opened.withLock { opened -> LibPQ? in
      for name in names {
        if let library = opened[name] { return library }
        guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL), let library = LibPQ(handle) else {
          continue
        }
        opened[name] = library
        return library
      }
      return nil
    }
    if let found { return found }
    throw PersistenceError(
      .capabilityMissing,
      "PostgreSQL's client library, libpq, was not found (looked for \(names.joined(separator: ", "))).",
      recovery:
        "Install it (Debian and Ubuntu: apt-get install libpq5; macOS: brew install libpq), or set the option postgresLibraryPath.",
      context: .init(storeType: .postgreSQL)
    )
  }

  /// Returns the function called `name`, with the type it is called with.
  private static func function<Function>(_ name: String, in handle: UnsafeMutableRawPointer) -> Function? {
    // A pointer to a C function is as large as any pointer, and the types above match the header.
    dlsym(handle, name).map { unsafeBitCast($0, to: Function.self) }
  }

  /// Returns nil if a function is missing: the library is older than PostgreSQL 9.2, or is not libpq.
  private init?(_ handle: UnsafeMutableRawPointer) {
    func function<Function>(_ name: String) -> Function? { Self.function(name, in: handle) }
    guard let connect: ConnectFunction = function("PQconnectdbParams"),
      let finish: VoidFunction = function("PQfinish"),
      let status: IntFunction = function("PQstatus"),
      let errorMessage: TextFunction = function("PQerrorMessage"),
      let serverVersion: IntFunction = function("PQserverVersion"),
      let transactionStatus: IntFunction = function("PQtransactionStatus"),
      let parameterStatus: ParameterFunction = function("PQparameterStatus"),
      let setNoticeProcessor: NoticeFunction = function("PQsetNoticeProcessor"),
      let execute: ExecuteFunction = function("PQexec"),
      let executeWithParameters: ParametersFunction = function("PQexecParams"),
      let prepare: PrepareFunction = function("PQprepare"),
      let executePrepared: PreparedFunction = function("PQexecPrepared"),
      let resultStatus: IntFunction = function("PQresultStatus"),
      let resultErrorField: FieldFunction = function("PQresultErrorField"),
      let clear: VoidFunction = function("PQclear"),
      let rowCount: IntFunction = function("PQntuples"),
      let columnCount: IntFunction = function("PQnfields"),
      let columnType: TypeFunction = function("PQftype"),
      let value: ValueFunction = function("PQgetvalue"),
      let length: CellFunction = function("PQgetlength"),
      let isNull: CellFunction = function("PQgetisnull"),
      let affectedCount: TextFunction = function("PQcmdTuples"),
      let nextResult: PointerFunction = function("PQgetResult"),
      let putCopyData: PutFunction = function("PQputCopyData"),
      let putCopyEnd: EndFunction = function("PQputCopyEnd"),
      let getCopyData: GetFunction = function("PQgetCopyData"),
      let freeMemory: FreeFunction = function("PQfreemem"),
      let getCancel: PointerFunction = function("PQgetCancel"),
      let cancel: CancelFunction = function("PQcancel"),
      let freeCancel: VoidFunction = function("PQfreeCancel")
    else { return nil }
    self.connect = connect
    self.finish = finish
    self.status = status
    self.errorMessage = errorMessage
    self.serverVersion = serverVersion
    self.transactionStatus = transactionStatus
    self.parameterStatus = parameterStatus
    self.setNoticeProcessor = setNoticeProcessor
    self.execute = execute
    self.executeWithParameters = executeWithParameters
    self.prepare = prepare
    self.executePrepared = executePrepared
    self.resultStatus = resultStatus
    self.resultErrorField = resultErrorField
    self.clear = clear
    self.rowCount = rowCount
    self.columnCount = columnCount
    self.columnType = columnType
    self.value = value
    self.length = length
    self.isNull = isNull
    self.affectedCount = affectedCount
    self.nextResult = nextResult
    self.putCopyData = putCopyData
    self.putCopyEnd = putCopyEnd
    self.getCopyData = getCopyData
    self.freeMemory = freeMemory
    self.getCancel = getCancel
    self.cancel = cancel
    self.freeCancel = freeCancel
    pipeline = Pipeline(handle)
  }

  private typealias ConnectFunction = @convention(c) (Texts?, Texts?, CInt) -> OpaquePointer?
  private typealias VoidFunction = @convention(c) (OpaquePointer?) -> Void
  private typealias IntFunction = @convention(c) (OpaquePointer?) -> CInt
  private typealias ParameterFunction = @convention(c) (OpaquePointer?, Text?) -> Text?
  private typealias TextFunction = @convention(c) (OpaquePointer?) -> Text?
  private typealias TypeFunction = @convention(c) (OpaquePointer?, CInt) -> UInt32
  private typealias PointerFunction = @convention(c) (OpaquePointer?) -> OpaquePointer?
  private typealias NoticeFunction =
    @convention(c) (
      OpaquePointer?, (@convention(c) (UnsafeMutableRawPointer?, Text?) -> Void)?,
      UnsafeMutableRawPointer?
    )
    -> UnsafeMutableRawPointer?
  private typealias ExecuteFunction = @convention(c) (OpaquePointer?, Text?) -> OpaquePointer?
  private typealias ParametersFunction =
    @convention(c) (
      OpaquePointer?, Text?, CInt, UnsafePointer<UInt32>?, Texts?, UnsafePointer<CInt>?,
      UnsafePointer<CInt>?, CInt
    ) -> OpaquePointer?
  private typealias PrepareFunction =
    @convention(c) (OpaquePointer?, Text?, Text?, CInt, UnsafePointer<UInt32>?) -> OpaquePointer?
  private typealias PreparedFunction =
    @convention(c) (
      OpaquePointer?, Text?, CInt, Texts?, UnsafePointer<CInt>?, UnsafePointer<CInt>?, CInt
    )
    -> OpaquePointer?
  private typealias FieldFunction = @convention(c) (OpaquePointer?, CInt) -> Text?
  private typealias ValueFunction =
    @convention(c) (OpaquePointer?, CInt, CInt) -> UnsafeMutablePointer<CChar>?
  private typealias CellFunction = @convention(c) (OpaquePointer?, CInt, CInt) -> CInt
  private typealias PutFunction = @convention(c) (OpaquePointer?, Text?, CInt) -> CInt
  private typealias EndFunction = @convention(c) (OpaquePointer?, Text?) -> CInt
  private typealias GetFunction =
    @convention(c) (OpaquePointer?, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, CInt) ->
    CInt
  private typealias FreeFunction = @convention(c) (UnsafeMutableRawPointer?) -> Void
  private typealias CancelFunction =
    @convention(c) (OpaquePointer?, UnsafeMutablePointer<CChar>?, CInt) -> CInt
}

extension LibPQ.Pipeline {
  fileprivate init?(_ handle: UnsafeMutableRawPointer) {
    func function<Function>(_ name: String) -> Function? { LibPQ.function(name, in: handle) }
    guard let enter: IntFunction = function("PQenterPipelineMode"),
      let exit: IntFunction = function("PQexitPipelineMode"),
      let synchronize: IntFunction = function("PQpipelineSync"),
      let sendPrepare: PrepareFunction = function("PQsendPrepare"),
      let sendPrepared: PreparedFunction = function("PQsendQueryPrepared"),
      let sendStatement: StatementFunction = function("PQsendQueryParams")
    else { return nil }
    self.enter = enter
    self.exit = exit
    self.synchronize = synchronize
    self.sendPrepare = sendPrepare
    self.sendPrepared = sendPrepared
    self.sendStatement = sendStatement
  }

  private typealias IntFunction = @convention(c) (OpaquePointer?) -> CInt
  private typealias PrepareFunction =
    @convention(c) (OpaquePointer?, LibPQ.Text?, LibPQ.Text?, CInt, UnsafePointer<UInt32>?) -> CInt
  private typealias PreparedFunction =
    @convention(c) (
      OpaquePointer?, LibPQ.Text?, CInt, LibPQ.Texts?, UnsafePointer<CInt>?, UnsafePointer<CInt>?, CInt
    ) -> CInt
  private typealias StatementFunction =
    @convention(c) (
      OpaquePointer?, LibPQ.Text?, CInt, UnsafePointer<UInt32>?, LibPQ.Texts?, UnsafePointer<CInt>?,
      UnsafePointer<CInt>?, CInt
    ) -> CInt
}

// MARK: Codes

extension LibPQ {
  /// The values that `resultStatus` returns.
  enum ResultStatus {
    static let commandDone: CInt = 1
    static let hasRows: CInt = 2
    static let copyOut: CInt = 3
    static let copyIn: CInt = 4
    static let pipelineSynchronized: CInt = 10
    static let pipelineAborted: CInt = 11
  }

  /// The values that `transactionStatus` returns.
  enum TransactionStatus {
    static let idle: CInt = 0
  }

  /// The fields that `resultErrorField` takes.
  enum ErrorField {
    static let state = CInt(UInt8(ascii: "C"))
    static let message = CInt(UInt8(ascii: "M"))
    static let constraint = CInt(UInt8(ascii: "n"))
    static let table = CInt(UInt8(ascii: "t"))
  }

  /// The format code of binary parameters and results.
  static let binary: CInt = 1

  /// What `status` returns for a connection that can be used.
  static let connectionOK: CInt = 0
}
