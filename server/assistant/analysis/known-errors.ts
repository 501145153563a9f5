/**
 * Well-known errors of languages and platforms, with their meaning. Pure data: a pattern of the type, a pattern of the
 * text, a clause that says how it happens, and a next step. Captured groups of the text fill `$1` to `$3`.
 */

export type KnownError = {
  readonly type?: RegExp
  readonly text?: RegExp
  /** Begins of platforms of events; every platform by default. */
  readonly on?: readonly string[]
  /** A clause without an end: the place follows it. */
  readonly means: string
  readonly next: string
  /** The cause lies outside of the app, which can only be prepared for it. */
  readonly outside?: true
}

const JS = ['javascript', 'node', 'react-native', 'other']
const JVM = ['java', 'android', 'kotlin']
const APPLE = ['cocoa', 'apple', 'objc', 'swift', 'native']
const DART = ['dart', 'flutter', 'other']
const PYTHON = ['python']

const GUARD = 'Check where this value comes from, and handle its absence there.'
const NETWORK = 'Treat the failure as a normal answer: retry with a delay, and tell the user instead of failing.'
const RESTORE = 'Check the lifetime of the object that is used here: it is gone when the work ends.'

/** The first that matches counts: the particular ones come before the general ones. */
export const KNOWN_ERRORS: readonly KnownError[] = [
  // JavaScript
  { type: /^(?:TypeError)$/, text: /Cannot (read|set) propert(?:y|ies) of (undefined|null) \((?:reading|setting) '([^']{1,80})'\)/, on: JS, means: 'the property “$3” was $1 of a value that is $2', next: GUARD },
  { type: /^TypeError$/, text: /Cannot (read|set) property '([^']{1,80})' of (undefined|null)/, on: JS, means: 'the property “$2” was $1 of a value that is $3', next: GUARD },
  { type: /^TypeError$/, text: /^(undefined|null) is not an object \(evaluating '([^']{1,120})'\)/, on: JS, means: '“$2” was evaluated on a value that is $1', next: GUARD },
  { type: /^TypeError$/, text: /^can't access property "([^"]{1,80})", ([^ ]{1,80}) is (undefined|null)/, on: JS, means: 'the property “$1” was read of “$2”, which is $3', next: GUARD },
  { type: /^TypeError$/, text: /^([^ ]{1,100}) is (undefined|null)$/, on: JS, means: '“$1” was used while it is $2', next: GUARD },
  { type: /^TypeError$/, text: /^Failed to fetch dynamically imported module|^error loading dynamically imported module|^Importing a module script failed/, on: JS, means: 'a file of the app could not be loaded, as after a deploy that removed the files of the open build', next: 'Keep the files of former builds for some days, and reload the page when a part of it cannot be loaded.' },
  { type: /^ChunkLoadError$|^TypeError$|^Error$/, text: /Loading (?:CSS )?chunk [\w-]{1,80} failed/, on: JS, means: 'a file of the app could not be loaded, as after a deploy that removed the files of the open build', next: 'Keep the files of former builds for some days, and reload the page when a part of it cannot be loaded.' },
  { type: /^TypeError$/, text: /^(?:Failed to fetch|Load failed|NetworkError when attempting to fetch resource|Network request failed)/, on: JS, means: 'a request got no answer: the network, a blocker, or a server that does not allow this origin', next: NETWORK, outside: true },
  { type: /^TypeError$/, text: /^([^ ]{1,100}) is not a function/, on: JS, means: '“$1” was called, and it is no function', next: 'Check the value that is called: a wrong import, a renamed method or a value of another shape.' },
  { type: /^TypeError$/, text: /^([^ ]{1,100}) is not iterable|object is not iterable/, on: JS, means: 'a value was iterated that is no list', next: GUARD },
  { type: /^TypeError$/, text: /Assignment to constant variable/, on: JS, means: 'a constant was assigned again', next: 'Declare the variable with let, or use a second one.' },
  { type: /^TypeError$/, text: /Converting circular structure to JSON/, on: JS, means: 'a value that contains itself was turned into JSON', next: 'Serialise only the fields that are needed.' },
  { type: /^TypeError$/, text: /Cannot (?:destructure property|convert) .{0,40}\b(undefined|null)\b/, on: JS, means: 'a value that is $1 was taken apart', next: GUARD },
  { type: /^ReferenceError$/, text: /^Cannot access '?([\w$]{1,80})'? before initialization/, on: JS, means: '“$1” was used before its declaration ran, as in a cycle of imports', next: 'Break the cycle of imports, or move the declaration up.' },
  { type: /^ReferenceError$/, text: /^(?:Can't find variable: )?([\w$]{1,80})(?: is not defined)?$/, on: JS, means: 'the name “$1” does not exist where it is used', next: 'Import or declare it; for a browser global, check that it exists first.' },
  { type: /^RangeError$|^InternalError$/, text: /Maximum call stack size exceeded|too much recursion/, on: JS, means: 'functions called each other without end', next: 'Find the cycle in the repeating frames, and add its missing end.' },
  { type: /^RangeError$/, text: /Invalid time value/, on: JS, means: 'a date was formatted that is no valid date', next: 'Validate the text the date was parsed from.' },
  { type: /^RangeError$/, text: /Invalid array length|Invalid string length/, on: JS, means: 'a list or text was made with an impossible length', next: 'Check the computation of the length.' },
  { type: /^SyntaxError$/, text: /Unexpected token '?<'?|"?<!DOCTYPE/i, on: JS, means: 'a page of HTML arrived where JSON was expected', next: 'Check the status and the content type before parsing: an error page or a log-in page answered.' },
  { type: /^SyntaxError$/, text: /Unexpected end of JSON input|JSON\.parse: unexpected end|Unexpected EOF/, on: JS, means: 'JSON was parsed that is empty or ends too early', next: 'Check the status and the length of the answer before parsing it.' },
  { type: /^SyntaxError$/, text: /JSON/, on: JS, means: 'a text was parsed as JSON that is none', next: 'Check the content type before parsing, and log the beginning of the text.' },
  { type: /^QuotaExceededError$/, on: JS, means: 'the storage of the browser is full, or not allowed in a private window', next: 'Catch it, and drop old entries.' },
  { type: /^AbortError$/, on: JS, means: 'a request or playback was cancelled, as when its page is left', next: 'Ignore it where the cancellation is wanted.', outside: true },
  { type: /^NotAllowedError$/, on: JS, means: 'the browser refused it without permission or a gesture of the user', next: 'Ask after a click, and handle the refusal.', outside: true },
  { type: /^NotFoundError$/, text: /removeChild|insertBefore/, on: JS, means: 'the page was changed outside of the framework, as translation tools and extensions do', next: 'Wrap texts that change in elements of their own, or mark the part as not to be translated.', outside: true },
  { text: /ResizeObserver loop/, on: JS, means: 'the size of an element changed while sizes were being observed, which harms no user', next: 'Filter it: browsers report it without an effect.', outside: true },
  { text: /^Script error\.?$/, on: JS, means: 'a script of another origin failed, and the browser hides the details', next: 'Load that script with crossorigin="anonymous" and its server with Access-Control-Allow-Origin.', outside: true },
  { text: /Hydration failed|Text content does not match|Minified React error #(?:418|423|425)/, on: JS, means: 'the server rendered something else than the browser', next: 'Look for dates, random values and checks for the browser in what is rendered first.' },
  { text: /Maximum update depth exceeded|Minified React error #185|Too many re-renders|Minified React error #301/, on: JS, means: 'a component updates its state with every rendering', next: 'Check the dependencies of the effect that sets the state.' },
  { text: /Rendered (?:more|fewer) hooks than|Invalid hook call|Minified React error #(?:300|310|321)/, on: JS, means: 'hooks were not called in the same order in every rendering', next: 'Call hooks at the top of the component, never behind a condition.' },
  { text: /^Non-Error promise rejection captured|^Object captured as promise rejection/, on: JS, means: 'a promise was rejected with a value that is no error', next: 'Reject with an Error, so that there is a stack.' },
  { type: /^AxiosError$/, text: /Network Error/, on: JS, means: 'a request got no answer', next: NETWORK, outside: true },
  { type: /^(?:AxiosError|HTTPError|FetchError|HttpException|HttpErrorResponse)$/, text: /(?:status(?: code)?:? |HTTP )(\d{3})/, means: 'a server answered $1', next: 'Handle this status where the request is made.' },
  { type: /^SecurityError$/, on: JS, means: 'the browser does not allow access here, as to storage with cookies blocked', next: 'Catch it, and work without.', outside: true },

  // Node.js
  { text: /\bECONNREFUSED\b(?: ([\w.:-]{1,80}))?/, means: 'nothing listened at the address that was connected to', next: 'Check that the other service runs and its address is right; retry with a delay.', outside: true },
  { text: /\bECONNRESET\b|socket hang up/, means: 'the other side closed the connection before it answered', next: 'Retry what may be repeated; check time limits of idle connections on both sides.', outside: true },
  { text: /\bETIMEDOUT\b|\bESOCKETTIMEDOUT\b|\bERR_SOCKET_TIMEOUT\b|UND_ERR_(?:CONNECT|HEADERS|BODY)_TIMEOUT/, means: 'the other side did not answer in time', next: 'Set a time limit, retry with a delay, and check the load of the other service.', outside: true },
  { text: /\bENOTFOUND\b|\bEAI_AGAIN\b|getaddrinfo/, means: 'the name of a host could not be resolved', next: 'Check the name and the resolver of the machine.', outside: true },
  { text: /\bEPIPE\b/, means: 'something was written to a connection that the other side had closed', next: 'Listen to errors of the stream.', outside: true },
  { text: /\bEADDRINUSE\b/, means: 'another process listens at this port already', next: 'End the other process, or use another port.' },
  { text: /\bENOENT\b/, means: 'a file or folder does not exist', next: 'Check the path and when the file is made.' },
  { text: /\bEACCES\b|\bEPERM\b/, means: 'the process may not access this file or port', next: 'Check owner and mode.' },
  { text: /\bEMFILE\b|\bENFILE\b|Too many open files/i, means: 'too many files and connections are open', next: 'Look for handles that are never closed before raising the limit.' },
  { text: /\bENOSPC\b|No space left on device|disk (?:is )?full/i, means: 'the disk is full', next: 'Free space, and bound what is written.', outside: true },
  { text: /ERR_HTTP_HEADERS_SENT|Cannot set headers after they are sent/, means: 'a response was answered twice', next: 'Return after the first answer in this handler.' },
  { text: /Cannot find module '([^']{1,120})'/, means: 'the module “$1” is not installed or not part of the build', next: 'Declare it as a dependency, and check the path and the build.' },
  { text: /ERR_REQUIRE_ESM/, means: 'an ES module was loaded with require()', next: 'Import it, or take a version that supports require().' },
  { text: /heap out of memory|Allocation failed - JavaScript heap/, means: 'the process used all of its memory', next: 'Compare heap snapshots, and look for caches and lists without a bound.' },
  { text: /ERR_UNHANDLED_REJECTION|unhandledRejection/, means: 'a promise was rejected that no code handles', next: 'Await it, or add a catch.' },

  // Databases
  { text: /deadlock detected|Deadlock found when trying to get lock|\b40P01\b/, means: 'two transactions waited for each other', next: 'Lock rows in one order everywhere, and retry the transaction.' },
  { text: /duplicate key value violates unique constraint(?: "([^"]{1,80})")?|UNIQUE constraint failed|Duplicate entry|\b23505\b/, means: 'a row was inserted that exists already', next: 'Insert with a rule for conflicts, or handle this error as "exists".' },
  { text: /violates foreign key constraint|FOREIGN KEY constraint failed|\b23503\b/, means: 'a row refers to one that does not exist', next: 'Check the order of writes, and what is deleted meanwhile.' },
  { text: /violates not-null constraint|NOT NULL constraint failed|\b23502\b/, means: 'a row lacks a value that its table demands', next: GUARD },
  { text: /too many (?:clients|connections)|remaining connection slots|Timeout acquiring a connection|QueuePool limit|connection pool (?:timeout|exhausted)/i, means: 'no connection to the database was free', next: 'Look for connections that are kept too long before making the pool larger.' },
  { text: /canceling statement due to (?:statement timeout|lock timeout)|Lock wait timeout exceeded|lock timeout/, means: 'a statement took longer than it may', next: 'Read its plan, and look for a missing index or a long lock.' },
  { text: /database (?:table )?is locked|SQLITE_BUSY/, means: 'another connection holds the SQLite database', next: 'Write through one connection, with WAL and a busy timeout.' },
  { type: /SQLiteFullException/, means: 'the device has no space for the database', next: 'Catch it, and free space.', outside: true },
  { type: /SQLiteDatabaseCorruptException|SQLiteDiskIOException/, means: 'the database on the device is damaged', next: 'Make it anew from the server.', outside: true },
  { text: /relation "([^"]{1,80})" does not exist|no such table:? ?([\w.]{0,80})|no such column/, means: 'the database does not have the table or column that is used, as before a migration', next: 'Run the migration before the new code.' },
  { text: /could not serialize access|\b40001\b/, means: 'two transactions changed the same rows', next: 'Retry the transaction.' },

  // Java, Kotlin, Android
  { type: /NullPointerException$/, text: /because (?:the return value of )?"([^"]{1,120})" is null/, on: JVM, means: '“$1” is null and was used', next: GUARD },
  { type: /NullPointerException$/, text: /Attempt to (?:invoke|read|write)[^']{0,60}'([^']{1,160})' on a null/, on: JVM, means: '“$1” was used on a reference that is null', next: GUARD },
  { type: /NullPointerException$/, text: /Parameter specified as non-null is null: .{0,200}parameter (\w{1,60})/, on: JVM, means: 'null was passed for “$1”, which Kotlin declares as never null', next: 'Declare the parameter as nullable where Java calls it, or check before the call.' },
  { type: /UninitializedPropertyAccessException$/, text: /lateinit property (\w{1,80})/, on: JVM, means: '“$1” was read before it was set', next: 'Set it before this code can run, or check isInitialized.' },
  { type: /NullPointerException$/, on: JVM, means: 'a reference is null and was used', next: GUARD },
  { type: /ClassCastException$/, text: /([\w.$]{1,120}) cannot be cast to (?:class )?([\w.$]{1,120})/, on: JVM, means: 'a “$1” was used as a “$2”', next: 'Check the type first, and which code stores the other type.' },
  { type: /IndexOutOfBoundsException$/, text: /(?:Index:? ?|length=\d+; index=)(-?\d+)/i, on: JVM, means: 'element $1 was read of a list or text that does not have it', next: 'Compare with the size first; another thread may have changed the list.' },
  { type: /ConcurrentModificationException$/, on: JVM, means: 'a collection was changed while it was iterated', next: 'Iterate over a copy, or change it on one thread only.' },
  { type: /NumberFormatException$/, text: /For input string: "([^"]{0,80})"/, on: JVM, means: 'the text “$1” was parsed as a number', next: 'Validate the text first; mind separators of the locale.' },
  { type: /OutOfMemoryError$/, on: JVM, means: 'the app used all of its memory', next: 'Look at large images, and at lists and caches without a bound.' },
  { type: /StackOverflowError$/, on: JVM, means: 'functions called each other without end', next: 'Find the cycle in the repeating frames, and add its missing end.' },
  { type: /NetworkOnMainThreadException$/, on: JVM, means: 'a request was sent on the main thread', next: 'Move it to a background thread or a coroutine.' },
  { type: /CalledFromWrongThreadException$/, on: JVM, means: 'a view was changed outside of the main thread', next: 'Post the change to the main thread.' },
  { type: /BadTokenException$/, on: JVM, means: 'a dialog or toast was shown for a screen that is gone', next: RESTORE },
  { type: /ActivityNotFoundException$/, on: JVM, means: 'no installed app handles the intent', next: 'Resolve the intent first, and tell the user.', outside: true },
  { type: /TransactionTooLargeException$/, on: JVM, means: 'more than about 1 MB was passed to another process, as in saved state', next: 'Pass an id, and keep the data on disk.' },
  { type: /DeadObjectException$|DeadSystemException$/, on: JVM, means: 'the process that was called is gone', next: 'Catch it, and connect again.', outside: true },
  { type: /ForegroundServiceDidNotStartInTimeException$|RemoteServiceException$/, on: JVM, means: 'a foreground service did not call startForeground() in time', next: 'Call startForeground() first in onCreate() or onStartCommand().' },
  { type: /ForegroundServiceStartNotAllowedException$|BackgroundServiceStartNotAllowedException$/, on: JVM, means: 'a service was started while the app was in the background', next: 'Use WorkManager, or start it while a screen is visible.' },
  { type: /IllegalStateException$/, text: /after onSaveInstanceState/, on: JVM, means: 'a fragment was changed after the state of its screen was saved', next: 'Commit while the screen is resumed.' },
  { type: /IllegalStateException$/, text: /not attached to (?:a context|an activity|Activity)/i, on: JVM, means: 'a fragment was used after it left its screen', next: RESTORE },
  { type: /IllegalStateException$/, text: /(?:Expected|Required) .{0,60}(?:non-null|not null|was null)/i, on: JVM, means: 'a value is null that must not be', next: GUARD },
  { type: /SecurityException$/, on: JVM, means: 'a permission is missing that this call needs', next: 'Ask for the permission first, and handle the refusal.' },
  { type: /Resources\$NotFoundException$/, on: JVM, means: 'a resource does not exist in this configuration', next: 'Add it to the default folder too; an integer passed as a text is taken for an id.' },
  { type: /InflateException$/, on: JVM, means: 'a layout could not be created', next: 'Read the cause: a missing class, resource or constructor.' },
  { type: /(?:NoSuchMethodError|NoSuchFieldError|AbstractMethodError|IncompatibleClassChangeError)$/, on: JVM, means: 'code was compiled against another version of a library than the one that is installed', next: 'Align the versions of that library; with shrinking, add a keep rule.' },
  { type: /(?:ClassNotFoundException|NoClassDefFoundError)$/, on: JVM, means: 'a class is not part of the build', next: 'Add a keep rule for what is used by reflection, or the missing dependency.' },
  { type: /UnsatisfiedLinkError$/, on: JVM, means: 'a native library is missing for the architecture of the device', next: 'Package the library for every ABI that the app supports.' },
  { type: /ArithmeticException$/, on: JVM, means: 'a number was divided by zero', next: 'Check the divisor.' },
  { type: /NoSuchElementException$/, on: JVM, means: 'an element was taken of a collection that does not have it', next: 'Use firstOrNull() or check for emptiness.' },
  { type: /(?:UnknownHostException)$/, on: JVM, means: 'the name of a host could not be resolved: the device is offline, or its resolver fails', next: NETWORK, outside: true },
  { type: /SocketTimeoutException$/, on: JVM, means: 'a server did not answer in time', next: NETWORK, outside: true },
  { type: /(?:ConnectException|NoRouteToHostException|SocketException)$/, on: JVM, means: 'a connection could not be made or broke', next: NETWORK, outside: true },
  { type: /SSL(?:Handshake|PeerUnverified|)Exception$|CertPathValidatorException$/, on: JVM, means: 'the certificate of the server was not accepted', next: 'Check the certificate, its chain and the clock of the device; pins may be out of date.', outside: true },
  { type: /(?:JsonSyntaxException|JsonParseException|JsonDecodingException|MalformedJsonException|JSONException|SerializationException|MismatchedInputException)$/, on: JVM, means: 'an answer does not have the form that is parsed', next: 'Compare the answer with the class; make fields optional that may be missing.' },
  { type: /TimeoutException$/, text: /finalize\(\) timed out/, on: JVM, means: 'a finalizer took more than ten seconds, as on a device that sleeps', next: 'Close the object explicitly.', outside: true },
  { type: /(?:JobCancellationException|CancellationException)$/, on: JVM, means: 'a coroutine was cancelled, which is no error', next: 'Rethrow it, and do not report it.', outside: true },
  { type: /UnsupportedOperationException$/, on: JVM, means: 'a collection was changed that cannot be, such as one of List.of()', next: 'Copy it before changing it.' },
  { type: /FileNotFoundException$/, means: 'a file does not exist or may not be read', next: 'Check the path and the permission.' },

  // Apple
  { text: /unrecognized selector sent to (instance|class)/, on: APPLE, means: 'a message was sent to an object that does not understand it, often one that was released', next: 'Check the type of the object, and who keeps it alive.' },
  { type: /^NSRangeException$/, on: APPLE, means: 'an element or range was read outside of a collection or text', next: 'Compare with the count first; another thread may have changed it.' },
  { type: /^NSInvalidArgumentException$/, text: /attempt to insert nil|nil object|object cannot be nil/, on: APPLE, means: 'nil was put into a collection', next: GUARD },
  { type: /^NSInvalidArgumentException$/, text: /JSON|NaN|CALayer/i, on: APPLE, means: 'a value was passed that cannot be represented, such as NaN', next: 'Check divisions whose divisor may be zero.' },
  { type: /^CALayerInvalidGeometry$/, on: APPLE, means: 'a view got NaN as a position or size', next: 'Check divisions whose divisor may be zero.' },
  { type: /^NSUnknownKeyException$/, on: APPLE, means: 'a key was set that the class does not have, as an outlet that was removed', next: 'Remove the outlet from the storyboard, or add the property.' },
  { type: /^NSInternalInconsistencyException$/, text: /Invalid update|invalid number of/, on: APPLE, means: 'a table or collection was updated with rows that do not fit its data', next: 'Change the data and the rows together, on the main thread.' },
  { type: /^NSInternalInconsistencyException$/, text: /main thread|Main Thread/, on: APPLE, means: 'a view was changed outside of the main thread', next: 'Dispatch the change to the main queue.' },
  { type: /^NSGenericException$/, text: /mutated while being enumerated/, on: APPLE, means: 'a collection was changed while it was iterated', next: 'Iterate over a copy.' },
  { text: /Unexpectedly found nil while (?:implicitly )?unwrapping/, on: APPLE, means: 'an optional was unwrapped that is nil', next: 'Unwrap it with guard let, and decide what to do without it.' },
  { text: /(?:Fatal error: )?Index out of range/, on: APPLE, means: 'an element was read of an array that does not have it', next: 'Compare with the count first.' },
  { text: /Could not cast value of type '([^']{1,100})'[^']{0,40}to '([^']{1,100})'/, on: APPLE, means: 'a “$1” was used as a “$2”', next: 'Cast with as?, and handle the other type.' },
  { text: /Division by zero|Not enough bits to represent|arithmetic overflow/i, on: APPLE, means: 'a computation has no result that fits', next: 'Check the divisor, and the range of the numbers.' },
  { text: /Simultaneous accesses to/, on: APPLE, means: 'a value was changed while it was in use', next: 'Copy the value before the closure that changes it.' },
  { type: /^(?:App Hanging|App Hang.{0,40})$/, on: APPLE, means: 'the main thread did not answer for seconds', next: 'Move the work of the main thread to a background queue.' },
  { type: /^WatchdogTermination$/, on: APPLE, means: 'the system ended the app: too much memory, or no answer in time', next: 'Compare the use of memory between releases.' },
  { type: /^EXC_RESOURCE$/, on: APPLE, means: 'the app used more memory, processor or wake-ups than the system allows', next: 'Profile it with the resource that the message names.' },
  { type: /^EXC_GUARD$/, on: APPLE, means: 'a protected descriptor was closed or used', next: 'Look for a descriptor that is closed twice.' },
  { type: /^EXC_BAD_ACCESS$/, text: /at 0x0{0,16}[0-9a-f]{1,3}\b|NULL/i, means: 'a null pointer was used', next: 'Check who may release the object before this code runs.' },
  { type: /^EXC_BAD_ACCESS$/, means: 'memory was used that is not there any more', next: 'Run it with the address sanitiser, and look for objects used after they were released.' },
  { type: /^EXC_BREAKPOINT$/, means: 'a check of the Swift runtime failed, such as an optional that is nil', next: 'Read the line of the frame: a !, an index or a cast.' },
  { type: /^EXC_BAD_INSTRUCTION$/, means: 'a check of the Swift runtime failed', next: 'Read the line of the frame: a !, an index or an overflow.' },
  { type: /^EXC_CRASH$/, text: /SIGABRT/, means: 'the app ended itself with abort(), as after an exception that no code catches', next: 'Read the message before it in the log, or the exception of the thread.' },

  // Native
  { type: /^SIGSEGV$/, text: /(?:fault addr(?:ess)? |at )0x0{0,16}[0-9a-f]{1,3}\b|null pointer/i, means: 'a null pointer was used', next: 'Check who may release the object before this code runs.' },
  { type: /^SIGSEGV$|^EXCEPTION_ACCESS_VIOLATION/, means: 'memory was used that is not there any more', next: 'Run it with the address sanitiser, and look for objects used after they were released.' },
  { type: /^SIGABRT$/, text: /assert/i, means: 'an assertion failed', next: 'Read the condition of the assertion.' },
  { type: /^SIGABRT$/, means: 'the program ended itself with abort(), as after a failed check or a damaged heap', next: 'Read the abort message, or the frames above abort().' },
  { type: /^SIGBUS$/, means: 'memory was used whose file is gone or that is not aligned', next: 'Check memory-mapped files, which may be cut or removed.' },
  { type: /^SIGILL$|^SIGTRAP$/, means: 'a trap of the compiler was reached: a failed check, or code that cannot be reached', next: 'Read the line of the frame; a function may lack a return.' },
  { type: /^SIGFPE$/, means: 'a number was divided by zero', next: 'Check the divisor.' },
  { type: /^SIGKILL$/, means: 'the system ended the program, often for its memory', next: 'Compare the use of memory between releases.', outside: true },
  { text: /std::bad_alloc/, means: 'memory could not be allocated', next: 'Check the computation of the size.' },
  { text: /pure virtual (?:method|function) call/, means: 'a method was called on an object that is being destroyed', next: RESTORE },

  // Dart
  { text: /Null check operator used on a null value/, means: 'a value is null that the code marks as never null with !', next: 'Handle null instead of writing !.' },
  { text: /type 'Null' is not a subtype of type '([^']{1,80})'/, means: 'null arrived where a $1 is expected, as a field that JSON lacks', next: 'Make the field nullable, or give it a default.' },
  { text: /type '([^']{1,80})' is not a subtype of type '([^']{1,80})'/, means: 'a $1 was used as a $2', next: 'Convert the value where it is parsed.' },
  { type: /^LateInitializationError$/, text: /(?:Field|Local) '([^']{1,80})'/, means: '“$1” was read before it was set', next: 'Set it before this code can run.' },
  { text: /The (?:method|getter) '([^']{1,80})' was called on null/, means: '“$1” was called on null', next: GUARD },
  { text: /setState\(\) called after dispose\(\)/, means: 'a widget was updated after it left the screen', next: 'Check mounted after every await.' },
  { text: /deactivated widget's ancestor/, means: 'a context was used after its widget left the screen', next: 'Check mounted after every await.' },
  { text: /A RenderFlex overflowed/, means: 'content is larger than its space, which shows and harms nothing else', next: 'Make a child flexible, or scroll.' },
  { type: /^MissingPluginException$/, means: 'the native part of a plugin is not registered', next: 'Rebuild the app in full, and check the registration of the plugin.' },
  { type: /^SocketException$|^ClientException$/, on: DART, means: 'a connection could not be made or broke', next: NETWORK, outside: true },
  { type: /^StateError$/, text: /No element|Too many elements/, means: 'an element was taken of a collection that does not have exactly that', next: 'Use firstOrNull or check for emptiness.' },
  { type: /^RangeError$/, text: /(?:index|Invalid value)/, on: DART, means: 'an element was read of a list that does not have it', next: 'Compare with the length first.' },
  { type: /^FormatException$/, on: DART, means: 'a text was parsed that does not have this form', next: 'Check the text first, or use tryParse.' },

  // Python
  { type: /^AttributeError$/, text: /'NoneType' object has no attribute '([^']{1,80})'/, on: PYTHON, means: '“$1” was read of None', next: GUARD },
  { type: /^AttributeError$/, text: /'([^']{1,80})' object has no attribute '([^']{1,80})'/, on: PYTHON, means: 'a $1 has no “$2”', next: 'Check the type of the object, and a name that changed with a library.' },
  { type: /^TypeError$/, text: /'NoneType' object is not (subscriptable|iterable|callable)/, on: PYTHON, means: 'None was used as if it were $1', next: GUARD },
  { type: /^TypeError$/, text: /missing \d+ required (?:positional|keyword-only) argument/, on: PYTHON, means: 'a function was called without an argument that it needs', next: 'Compare the call with the signature.' },
  { type: /^TypeError$/, text: /got an unexpected keyword argument '([^']{1,80})'/, on: PYTHON, means: 'a function was called with “$1”, which it does not take', next: 'Compare the call with the signature of the installed version.' },
  { type: /^TypeError$/, text: /unsupported operand type/, on: PYTHON, means: 'two values were combined whose types do not fit', next: 'Convert one of them where it enters the program.' },
  { type: /^KeyError$/, text: /^'?([^']{1,80})'?$/, on: PYTHON, means: 'the key “$1” is not in the dictionary', next: 'Use get() with a default, or validate the input.' },
  { type: /^IndexError$/, on: PYTHON, means: 'an element was read of a list that does not have it', next: 'Compare with the length first.' },
  { type: /^ZeroDivisionError$/, means: 'a number was divided by zero', next: 'Check the divisor.' },
  { type: /^(?:ModuleNotFoundError|ImportError)$/, on: PYTHON, means: 'a module could not be imported', next: 'Declare it as a dependency, and check for a cycle of imports.' },
  { type: /^RecursionError$/, on: PYTHON, means: 'functions called each other without end', next: 'Find the cycle in the repeating frames, and add its missing end.' },
  { type: /^Unicode(?:Decode|Encode)Error$/, on: PYTHON, means: 'bytes were read in another encoding than they have', next: 'Name the encoding, and decide about errors.' },
  { type: /JSONDecodeError$/, on: PYTHON, means: 'a text was parsed as JSON that is none', next: 'Check the status and the content type before parsing.' },
  { type: /^ValueError$/, text: /invalid literal for int\(\)|could not convert string to float/, on: PYTHON, means: 'a text was parsed as a number that is none', next: 'Validate the text first.' },
  { type: /(?:^|\.)DoesNotExist$/, on: PYTHON, means: 'a row was read that does not exist', next: 'Answer 404, or use first().' },
  { type: /(?:ConnectionError|ConnectTimeout|ReadTimeout|ConnectionRefusedError|ConnectionResetError|TimeoutError)$/, means: 'another service did not answer, or not in time', next: NETWORK, outside: true },
  { type: /^MemoryError$/, means: 'the process used all of its memory', next: 'Read large data in pieces.' },
  { type: /DetachedInstanceError$/, on: PYTHON, means: 'a row was used after its session ended', next: 'Load what is needed inside the session.' },
  { type: /^AssertionError$/, means: 'an assertion failed', next: 'Read the condition of the assertion.' },

  // Further languages
  { text: /invalid memory address or nil pointer dereference/, means: 'a nil pointer was used', next: GUARD },
  { text: /index out of range \[(-?\d+)\] with length (\d+)/, means: 'element $1 was read of a slice of $2', next: 'Compare with the length first.' },
  { text: /concurrent map (?:writes|read and map write)/, means: 'a map was changed by two goroutines', next: 'Guard it with a mutex.' },
  { type: /NullReferenceException$/, means: 'a reference is null and was used', next: GUARD },
  { type: /InvalidOperationException$/, text: /Sequence contains no/, means: 'an element was taken of a sequence that does not have it', next: 'Use FirstOrDefault().' },
  { type: /^NoMethodError$/, text: /undefined method [`']([^`']{1,80})' for nil/, means: '“$1” was called on nil', next: GUARD },
  { text: /Call to a member function (\w{1,80})\(\) on null/, means: '“$1” was called on null', next: GUARD },
  { text: /(?:Allowed memory size of|Out of memory)/, means: 'the process used all of its memory', next: 'Look for data that is loaded at once.' },
]

export type Recognised = { readonly means: string; readonly next: string; readonly isOutside: boolean }

const MAX_TEXT = 2_000

/**
 * The well-known error that an exception is; null for one that only this app knows.
 * @param platform of the event
 */
export function recognise(type: string | null, value: string | null, platform: string): Recognised | null {
  const text = (value ?? '').slice(0, MAX_TEXT)
  for (const { type: ofType, text: ofText, on, means, next, outside } of KNOWN_ERRORS) {
    if (on !== undefined && !on.some((name) => platform.startsWith(name))) continue
    if (ofType !== undefined && !ofType.test(type ?? '')) continue
    const match = ofText === undefined ? [] : ofText.exec(text)
    if (match === null) continue
    return { means: fill(means, match), next, isOutside: outside === true }
  }
  return null
}

const fill = (clause: string, match: readonly (string | undefined)[]): string =>
  clause.replace(/\$(\d)/g, (_whole, n: string) => match[Number(n)] ?? 'it').replace('was set of a', 'was set on a')
