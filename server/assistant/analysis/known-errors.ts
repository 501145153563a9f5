import { writeOutCase } from '../../platform/kernel/letter-case.ts'

/**
 * Well-known errors of languages and platforms, with their meaning. Pure.
 *
 * A line has: the platforms (`any`, or a name of PLATFORMS), a pattern of the type, a pattern of the text (`-` for any), a
 * clause that says how it happens, and a next step. Captured groups of the text fill `$1` to `$3`; `!` at the end: the
 * reason may lie outside of the app. The first that matches counts: particular ones come before general ones.
 */
const TABLE = String.raw`
# JavaScript
js ¦ ^TypeError$ ¦ Cannot (read|set) propert(?:y|ies) of (undefined|null) \((?:reading|setting) '([^']{1,80})'\) ¦ the property “$3” was $1 of a value that is $2 ¦ Check where this value comes from, and handle its absence there.
js ¦ ^TypeError$ ¦ Cannot (read|set) property '([^']{1,80})' of (undefined|null) ¦ the property “$2” was $1 of a value that is $3 ¦ Check where this value comes from, and handle its absence there.
js ¦ ^TypeError$ ¦ ^(undefined|null) is not an object \(evaluating '([^']{1,120})'\) ¦ “$2” was evaluated on a value that is $1 ¦ Check where this value comes from, and handle its absence there.
js ¦ ^TypeError$ ¦ ^can't access property "([^"]{1,80})", ([^ ]{1,80}) is (undefined|null) ¦ the property “$1” was read of “$2”, which is $3 ¦ Check where this value comes from, and handle its absence there.
js ¦ ^TypeError$ ¦ ^([^ ]{1,100}) is (undefined|null)$ ¦ “$1” was used while it is $2 ¦ Check where this value comes from, and handle its absence there.
js ¦ ^TypeError$ ¦ ^Failed to fetch dynamically imported module|^error loading dynamically imported module|^Importing a module script failed ¦ a file of the app could not be loaded, as after a deploy that removed the files of the open build ¦ Keep the files of former builds for some days, and reload the page when a part of it cannot be loaded.
js ¦ ^ChunkLoadError$|^TypeError$|^Error$ ¦ Loading (?:CSS )?chunk [\w-]{1,80} failed ¦ a file of the app could not be loaded, as after a deploy that removed the files of the open build ¦ Keep the files of former builds for some days, and reload the page when a part of it cannot be loaded.
js ¦ ^TypeError$ ¦ ^(?:Failed to fetch|Load failed|NetworkError when attempting to fetch resource|Network request failed) ¦ a request got no answer: the network, a blocker, or a server that does not allow this origin ¦ Treat the failure as a normal answer: retry with a delay, and tell the user instead of failing. !
js ¦ ^TypeError$ ¦ ^([^ ]{1,100}) is not a function ¦ “$1” was called, and it is no function ¦ Check the value that is called: a wrong import, a renamed method or a value of another shape.
js ¦ ^TypeError$ ¦ ^([^ ]{1,100}) is not iterable|object is not iterable ¦ a value was iterated that is no list ¦ Check where this value comes from, and handle its absence there.
js ¦ ^TypeError$ ¦ Assignment to constant variable ¦ a constant was assigned again ¦ Declare the variable with let, or use a second one.
js ¦ ^TypeError$ ¦ Converting circular structure to JSON ¦ a value that contains itself was turned into JSON ¦ Serialise only the fields that are needed.
js ¦ ^TypeError$ ¦ Cannot (?:destructure property|convert) .{0,40}\b(undefined|null)\b ¦ a value that is $1 was taken apart ¦ Check where this value comes from, and handle its absence there.
js ¦ ^ReferenceError$ ¦ ^Cannot access '?([\w$]{1,80})'? before initialization ¦ “$1” was used before its declaration ran, as in a cycle of imports ¦ Break the cycle of imports, or move the declaration up.
js ¦ ^ReferenceError$ ¦ ^(?:Can't find variable: )?([\w$]{1,80})(?: is not defined)?$ ¦ the name “$1” does not exist where it is used ¦ Import or declare it; for a browser global, check that it exists first.
js ¦ ^RangeError$|^InternalError$ ¦ Maximum call stack size exceeded|too much recursion ¦ functions called each other without end ¦ Find the cycle in the repeating frames, and add its missing end.
js ¦ ^RangeError$ ¦ Invalid time value ¦ a date was formatted that is no valid date ¦ Validate the text the date was parsed from.
js ¦ ^RangeError$ ¦ Invalid array length|Invalid string length ¦ a list or text was made with an impossible length ¦ Check the computation of the length.
js ¦ ^SyntaxError$ ¦ (?i:Unexpected token '?<'?|"?<!DOCTYPE) ¦ a page of HTML arrived where JSON was expected ¦ Check the status and the content type before parsing: an error page or a log-in page answered.
js ¦ ^SyntaxError$ ¦ Unexpected end of JSON input|JSON\.parse: unexpected end|Unexpected EOF ¦ JSON was parsed that is empty or ends too early ¦ Check the status and the length of the answer before parsing it.
js ¦ ^SyntaxError$ ¦ JSON ¦ a text was parsed as JSON that is none ¦ Check the content type before parsing, and log the beginning of the text.
js ¦ ^QuotaExceededError$ ¦ - ¦ the storage of the browser is full, or not allowed in a private window ¦ Catch it, and drop old entries.
js ¦ ^AbortError$ ¦ - ¦ a request or playback was cancelled, as when its page is left ¦ Ignore it where the cancellation is wanted. !
js ¦ ^NotAllowedError$ ¦ - ¦ the browser refused it without permission or a gesture of the user ¦ Ask after a click, and handle the refusal. !
js ¦ ^NotFoundError$ ¦ removeChild|insertBefore ¦ the page was changed outside of the framework, as translation tools and extensions do ¦ Wrap texts that change in elements of their own, or mark the part as not to be translated. !
js ¦ - ¦ ResizeObserver loop ¦ the size of an element changed while sizes were being observed, which harms no user ¦ Filter it: browsers report it without an effect. !
js ¦ - ¦ ^Script error\.?$ ¦ a script of another origin failed, and the browser hides the details ¦ Load that script with crossorigin="anonymous" and its server with Access-Control-Allow-Origin. !
js ¦ - ¦ Hydration failed|Text content does not match|Minified React error #(?:418|423|425) ¦ the server rendered something else than the browser ¦ Look for dates, random values and checks for the browser in what is rendered first.
js ¦ - ¦ Maximum update depth exceeded|Minified React error #185|Too many re-renders|Minified React error #301 ¦ a component updates its state with every rendering ¦ Check the dependencies of the effect that sets the state.
js ¦ - ¦ Rendered (?:more|fewer) hooks than|Invalid hook call|Minified React error #(?:300|310|321) ¦ hooks were not called in the same order in every rendering ¦ Call hooks at the top of the component, never behind a condition.
js ¦ - ¦ ^Non-Error promise rejection captured|^Object captured as promise rejection ¦ a promise was rejected with a value that is no error ¦ Reject with an Error, so that there is a stack.
js ¦ ^AxiosError$ ¦ Network Error ¦ a request got no answer ¦ Treat the failure as a normal answer: retry with a delay, and tell the user instead of failing. !
any ¦ ^(?:AxiosError|HTTPError|FetchError|HttpException|HttpErrorResponse)$ ¦ (?:status(?: code)?:? |HTTP )(\d{3}) ¦ a server answered $1 ¦ Handle this status where the request is made.
js ¦ ^SecurityError$ ¦ - ¦ the browser does not allow access here, as to storage with cookies blocked ¦ Catch it, and work without. !
# Node.js
any ¦ - ¦ \bECONNREFUSED\b(?: ([\w.:-]{1,80}))? ¦ nothing listened at the address that was connected to ¦ Check that the other service runs and its address is right; retry with a delay. !
any ¦ - ¦ \bECONNRESET\b|socket hang up ¦ the other side closed the connection before it answered ¦ Retry what may be repeated; check time limits of idle connections on both sides. !
any ¦ - ¦ \bETIMEDOUT\b|\bESOCKETTIMEDOUT\b|\bERR_SOCKET_TIMEOUT\b|UND_ERR_(?:CONNECT|HEADERS|BODY)_TIMEOUT ¦ the other side did not answer in time ¦ Set a time limit, retry with a delay, and check the load of the other service. !
any ¦ - ¦ \bENOTFOUND\b|\bEAI_AGAIN\b|getaddrinfo ¦ the name of a host could not be resolved ¦ Check the name and the resolver of the machine. !
any ¦ - ¦ \bEPIPE\b ¦ something was written to a connection that the other side had closed ¦ Listen to errors of the stream. !
any ¦ - ¦ \bEADDRINUSE\b ¦ another process listens at this port already ¦ End the other process, or use another port.
any ¦ - ¦ \bENOENT\b ¦ a file or folder does not exist ¦ Check the path and when the file is made.
any ¦ - ¦ \bEACCES\b|\bEPERM\b ¦ the process may not access this file or port ¦ Check owner and mode.
any ¦ - ¦ (?i:\bEMFILE\b|\bENFILE\b|Too many open files) ¦ too many files and connections are open ¦ Look for handles that are never closed before raising the limit.
any ¦ - ¦ (?i:\bENOSPC\b|No space left on device|disk (?:is )?full) ¦ the disk is full ¦ Free space, and bound what is written. !
any ¦ - ¦ ERR_HTTP_HEADERS_SENT|Cannot set headers after they are sent ¦ a response was answered twice ¦ Return after the first answer in this handler.
any ¦ - ¦ Cannot find module '([^']{1,120})' ¦ the module “$1” is not installed or not part of the build ¦ Declare it as a dependency, and check the path and the build.
any ¦ - ¦ ERR_REQUIRE_ESM ¦ an ES module was loaded with require() ¦ Import it, or take a version that supports require().
any ¦ - ¦ heap out of memory|Allocation failed - JavaScript heap ¦ the process used all of its memory ¦ Compare heap snapshots, and look for caches and lists without a bound.
any ¦ - ¦ ERR_UNHANDLED_REJECTION|unhandledRejection ¦ a promise was rejected that no code handles ¦ Await it, or add a catch.
# Databases
any ¦ - ¦ deadlock detected|Deadlock found when trying to get lock|\b40P01\b ¦ two transactions waited for each other ¦ Lock rows in one order everywhere, and retry the transaction.
any ¦ - ¦ duplicate key value violates unique constraint(?: "([^"]{1,80})")?|UNIQUE constraint failed|Duplicate entry|\b23505\b ¦ a row was inserted that exists already ¦ Insert with a rule for conflicts, or handle this error as "exists".
any ¦ - ¦ violates foreign key constraint|FOREIGN KEY constraint failed|\b23503\b ¦ a row refers to one that does not exist ¦ Check the order of writes, and what is deleted meanwhile.
any ¦ - ¦ violates not-null constraint|NOT NULL constraint failed|\b23502\b ¦ a row lacks a value that its table demands ¦ Check where this value comes from, and handle its absence there.
any ¦ - ¦ (?i:too many (?:clients|connections)|remaining connection slots|Timeout acquiring a connection|QueuePool limit|connection pool (?:timeout|exhausted)) ¦ no connection to the database was free ¦ Look for connections that are kept too long before making the pool larger.
any ¦ - ¦ canceling statement due to (?:statement timeout|lock timeout)|Lock wait timeout exceeded|lock timeout ¦ a statement took longer than it may ¦ Read its plan, and look for a missing index or a long lock.
any ¦ - ¦ database (?:table )?is locked|SQLITE_BUSY ¦ another connection holds the SQLite database ¦ Write through one connection, with WAL and a busy timeout.
any ¦ SQLiteFullException ¦ - ¦ the device has no space for the database ¦ Catch it, and free space. !
any ¦ SQLiteDatabaseCorruptException|SQLiteDiskIOException ¦ - ¦ the database on the device is damaged ¦ Delete it, and load it from the server again. !
any ¦ - ¦ relation "([^"]{1,80})" does not exist|no such table:? ?([\w.]{0,80})|no such column ¦ the database does not have the table or column that is used, as before a migration ¦ Run the migration before the new code.
any ¦ - ¦ could not serialize access|\b40001\b ¦ two transactions changed the same rows ¦ Retry the transaction.
# Java, Kotlin, Android
jvm ¦ NullPointerException$ ¦ because (?:the return value of )?"([^"]{1,120})" is null ¦ “$1” is null and was used ¦ Check where this value comes from, and handle its absence there.
jvm ¦ NullPointerException$ ¦ Attempt to (?:invoke|read|write)[^']{0,60}'([^']{1,160})' on a null ¦ “$1” was used on a reference that is null ¦ Check where this value comes from, and handle its absence there.
jvm ¦ NullPointerException$ ¦ Parameter specified as non-null is null: .{0,200}parameter (\w{1,60}) ¦ null was passed for “$1”, which Kotlin declares as never null ¦ Declare the parameter as nullable where Java calls it, or check before the call.
jvm ¦ UninitializedPropertyAccessException$ ¦ lateinit property (\w{1,80}) ¦ “$1” was read before it was set ¦ Set it before this code can run, or check isInitialized.
jvm ¦ NullPointerException$ ¦ - ¦ a reference is null and was used ¦ Check where this value comes from, and handle its absence there.
jvm ¦ ClassCastException$ ¦ ([\w.$]{1,120}) cannot be cast to (?:class )?([\w.$]{1,120}) ¦ a “$1” was used as a “$2” ¦ Check the type first, and which code stores the other type.
jvm ¦ IndexOutOfBoundsException$ ¦ (?i:(?:Index:? ?|length=\d+; index=)(-?\d+)) ¦ element $1 was read of a list or text that does not have it ¦ Compare with the size first; another thread may have changed the list.
jvm ¦ ConcurrentModificationException$ ¦ - ¦ a collection was changed while it was iterated ¦ Iterate over a copy, or change it on one thread only.
jvm ¦ NumberFormatException$ ¦ For input string: "([^"]{0,80})" ¦ the text “$1” was parsed as a number ¦ Validate the text first; mind separators of the locale.
jvm ¦ OutOfMemoryError$ ¦ - ¦ the app used all of its memory ¦ Look at large images, and at lists and caches without a bound.
jvm ¦ StackOverflowError$ ¦ - ¦ functions called each other without end ¦ Find the cycle in the repeating frames, and add its missing end.
jvm ¦ NetworkOnMainThreadException$ ¦ - ¦ a request was sent on the main thread ¦ Move it to a background thread or a coroutine.
jvm ¦ CalledFromWrongThreadException$ ¦ - ¦ a view was changed outside of the main thread ¦ Post the change to the main thread.
jvm ¦ BadTokenException$ ¦ - ¦ a dialog or toast was shown for a screen that is gone ¦ Check the lifetime of the object that is used here: it is gone when the work ends.
jvm ¦ ActivityNotFoundException$ ¦ - ¦ no installed app handles the intent ¦ Resolve the intent first, and tell the user. !
jvm ¦ TransactionTooLargeException$ ¦ - ¦ more than about 1 MB was passed to another process, as in saved state ¦ Pass an id, and keep the data on disk.
jvm ¦ DeadObjectException$|DeadSystemException$ ¦ - ¦ the process that was called is gone ¦ Catch it, and connect again. !
jvm ¦ ForegroundServiceDidNotStartInTimeException$|RemoteServiceException$ ¦ - ¦ a foreground service did not call startForeground() in time ¦ Call startForeground() first in onCreate() or onStartCommand().
jvm ¦ ForegroundServiceStartNotAllowedException$|BackgroundServiceStartNotAllowedException$ ¦ - ¦ a service was started while the app was in the background ¦ Use WorkManager, or start it while a screen is visible.
jvm ¦ IllegalStateException$ ¦ after onSaveInstanceState ¦ a fragment was changed after the state of its screen was saved ¦ Commit while the screen is resumed.
jvm ¦ IllegalStateException$ ¦ (?i:not attached to (?:a context|an activity|Activity)) ¦ a fragment was used after it left its screen ¦ Check the lifetime of the object that is used here: it is gone when the work ends.
jvm ¦ IllegalStateException$ ¦ (?i:(?:Expected|Required) .{0,60}(?:non-null|not null|was null)) ¦ a value is null that must not be ¦ Check where this value comes from, and handle its absence there.
jvm ¦ SecurityException$ ¦ - ¦ a permission is missing that this call needs ¦ Ask for the permission first, and handle the refusal.
jvm ¦ Resources\$NotFoundException$ ¦ - ¦ a resource does not exist in this configuration ¦ Add it to the default folder too; an integer passed as a text is taken for an id.
jvm ¦ InflateException$ ¦ - ¦ a layout could not be created ¦ Read the cause: a missing class, resource or constructor.
jvm ¦ (?:NoSuchMethodError|NoSuchFieldError|AbstractMethodError|IncompatibleClassChangeError)$ ¦ - ¦ code was compiled against another version of a library than the one that is installed ¦ Align the versions of that library; with shrinking, add a keep rule.
jvm ¦ (?:ClassNotFoundException|NoClassDefFoundError)$ ¦ - ¦ a class is not part of the build ¦ Add a keep rule for what is used by reflection, or the missing dependency.
jvm ¦ UnsatisfiedLinkError$ ¦ - ¦ a native library is missing for the architecture of the device ¦ Package the library for every ABI that the app supports.
jvm ¦ ArithmeticException$ ¦ - ¦ a number was divided by zero ¦ Check the divisor.
jvm ¦ NoSuchElementException$ ¦ - ¦ an element was taken of a collection that does not have it ¦ Use firstOrNull() or check for emptiness.
jvm ¦ UnknownHostException$ ¦ - ¦ the name of a host could not be resolved: the device is offline, or its resolver fails ¦ Treat the failure as a normal answer: retry with a delay, and tell the user instead of failing. !
jvm ¦ SocketTimeoutException$ ¦ - ¦ a server did not answer in time ¦ Treat the failure as a normal answer: retry with a delay, and tell the user instead of failing. !
jvm ¦ (?:ConnectException|NoRouteToHostException|SocketException)$ ¦ - ¦ a connection could not be made or broke ¦ Treat the failure as a normal answer: retry with a delay, and tell the user instead of failing. !
jvm ¦ SSL(?:Handshake|PeerUnverified|)Exception$|CertPathValidatorException$ ¦ - ¦ the certificate of the server was not accepted ¦ Check the certificate, its chain and the clock of the device; pins may be out of date. !
jvm ¦ (?:JsonSyntaxException|JsonParseException|JsonDecodingException|MalformedJsonException|JSONException|SerializationException|MismatchedInputException)$ ¦ - ¦ an answer does not have the form that is parsed ¦ Compare the answer with the class; make fields optional that may be missing.
jvm ¦ TimeoutException$ ¦ finalize\(\) timed out ¦ a finalizer took more than ten seconds, as on a device that sleeps ¦ Close the object explicitly. !
jvm ¦ (?:JobCancellationException|CancellationException)$ ¦ - ¦ a coroutine was cancelled, which is no error ¦ Rethrow it, and do not report it. !
jvm ¦ UnsupportedOperationException$ ¦ - ¦ a collection was changed that cannot be, such as one of List.of() ¦ Copy it before changing it.
any ¦ FileNotFoundException$ ¦ - ¦ a file does not exist or may not be read ¦ Check the path and the permission.
# Apple
apple ¦ - ¦ unrecognized selector sent to (instance|class) ¦ a message was sent to an object that does not understand it, often one that was released ¦ Check the type of the object, and who keeps it alive.
apple ¦ ^NSRangeException$ ¦ - ¦ an element or range was read outside of a collection or text ¦ Compare with the count first; another thread may have changed it.
apple ¦ ^NSInvalidArgumentException$ ¦ attempt to insert nil|nil object|object cannot be nil ¦ nil was put into a collection ¦ Check where this value comes from, and handle its absence there.
apple ¦ ^NSInvalidArgumentException$ ¦ (?i:JSON|NaN|CALayer) ¦ a value was passed that cannot be represented, such as NaN ¦ Check divisions whose divisor may be zero.
apple ¦ ^CALayerInvalidGeometry$ ¦ - ¦ a view got NaN as a position or size ¦ Check divisions whose divisor may be zero.
apple ¦ ^NSUnknownKeyException$ ¦ - ¦ a key was set that the class does not have, as an outlet that was removed ¦ Remove the outlet from the storyboard, or add the property.
apple ¦ ^NSInternalInconsistencyException$ ¦ Invalid update|invalid number of ¦ a table or collection was updated with rows that do not fit its data ¦ Change the data and the rows together, on the main thread.
apple ¦ ^NSInternalInconsistencyException$ ¦ main thread|Main Thread ¦ a view was changed outside of the main thread ¦ Dispatch the change to the main queue.
apple ¦ ^NSGenericException$ ¦ mutated while being enumerated ¦ a collection was changed while it was iterated ¦ Iterate over a copy.
apple ¦ - ¦ Unexpectedly found nil while (?:implicitly )?unwrapping ¦ an optional was unwrapped that is nil ¦ Unwrap it with guard let, and decide what to do without it.
apple ¦ - ¦ (?:Fatal error: )?Index out of range ¦ an element was read of an array that does not have it ¦ Compare with the count first.
apple ¦ - ¦ Could not cast value of type '([^']{1,100})'[^']{0,40}to '([^']{1,100})' ¦ a “$1” was used as a “$2” ¦ Cast with as?, and handle the other type.
apple ¦ - ¦ (?i:Division by zero|Not enough bits to represent|arithmetic overflow) ¦ a computation has no result that fits ¦ Check the divisor, and the range of the numbers.
apple ¦ - ¦ Simultaneous accesses to ¦ a value was changed while it was in use ¦ Copy the value before the closure that changes it.
apple ¦ ^(?:App Hanging|App Hang.{0,40})$ ¦ - ¦ the main thread did not answer for seconds ¦ Move the work of the main thread to a background queue.
apple ¦ ^WatchdogTermination$ ¦ - ¦ the system ended the app: too much memory, or no answer in time ¦ Compare the use of memory between releases.
apple ¦ ^EXC_RESOURCE$ ¦ - ¦ the app used more memory, processor or wake-ups than the system allows ¦ Profile it with the resource that the message names.
apple ¦ ^EXC_GUARD$ ¦ - ¦ a protected descriptor was closed or used ¦ Look for a descriptor that is closed twice.
any ¦ ^EXC_BAD_ACCESS$ ¦ (?i:at 0x0{0,16}[0-9a-f]{1,3}\b|NULL) ¦ a null pointer was used ¦ Check who may release the object before this code runs.
any ¦ ^EXC_BAD_ACCESS$ ¦ - ¦ memory was used that is not there any more ¦ Run it with the address sanitiser, and look for objects used after they were released.
any ¦ ^EXC_BREAKPOINT$ ¦ - ¦ a check of the Swift runtime failed, such as an optional that is nil ¦ Read the line of the frame: a !, an index or a cast.
any ¦ ^EXC_BAD_INSTRUCTION$ ¦ - ¦ a check of the Swift runtime failed ¦ Read the line of the frame: a !, an index or an overflow.
any ¦ ^EXC_CRASH$ ¦ SIGABRT ¦ the app ended itself with abort(), as after an exception that no code catches ¦ Read the message before it in the log, or the exception of the thread.
# Native
any ¦ ^SIGSEGV$ ¦ (?i:(?:fault addr(?:ess)? |at )0x0{0,16}[0-9a-f]{1,3}\b|null pointer) ¦ a null pointer was used ¦ Check who may release the object before this code runs.
any ¦ ^SIGSEGV$|^EXCEPTION_ACCESS_VIOLATION ¦ - ¦ memory was used that is not there any more ¦ Run it with the address sanitiser, and look for objects used after they were released.
any ¦ ^SIGABRT$ ¦ (?i:assert) ¦ an assertion failed ¦ Read the condition of the assertion.
any ¦ ^SIGABRT$ ¦ - ¦ the program ended itself with abort(), as after a failed check or a damaged heap ¦ Read the abort message, or the frames above abort().
any ¦ ^SIGBUS$ ¦ - ¦ memory was used whose file is gone or that is not aligned ¦ Check memory-mapped files, which may be cut or removed.
any ¦ ^SIGILL$|^SIGTRAP$ ¦ - ¦ a trap of the compiler was reached: a failed check, or code that cannot be reached ¦ Read the line of the frame; a function may lack a return.
any ¦ ^SIGFPE$ ¦ - ¦ a number was divided by zero ¦ Check the divisor.
any ¦ ^SIGKILL$ ¦ - ¦ the system ended the program, often for its memory ¦ Compare the use of memory between releases. !
any ¦ - ¦ std::bad_alloc ¦ memory could not be allocated ¦ Check the computation of the size.
any ¦ - ¦ pure virtual (?:method|function) call ¦ a method was called on an object that is being destroyed ¦ Check the lifetime of the object that is used here: it is gone when the work ends.
# Dart
any ¦ - ¦ Null check operator used on a null value ¦ a value is null that the code marks as never null with ! ¦ Handle null instead of writing !.
any ¦ - ¦ type 'Null' is not a subtype of type '([^']{1,80})' ¦ null arrived where a $1 is expected, as a field that JSON lacks ¦ Make the field nullable, or give it a default.
any ¦ - ¦ type '([^']{1,80})' is not a subtype of type '([^']{1,80})' ¦ a $1 was used as a $2 ¦ Convert the value where it is parsed.
any ¦ ^LateInitializationError$ ¦ (?:Field|Local) '([^']{1,80})' ¦ “$1” was read before it was set ¦ Set it before this code can run.
any ¦ - ¦ The (?:method|getter) '([^']{1,80})' was called on null ¦ “$1” was called on null ¦ Check where this value comes from, and handle its absence there.
any ¦ - ¦ setState\(\) called after dispose\(\) ¦ a widget was updated after it left the screen ¦ Check mounted after every await.
any ¦ - ¦ deactivated widget's ancestor ¦ a context was used after its widget left the screen ¦ Check mounted after every await.
any ¦ - ¦ A RenderFlex overflowed ¦ content is larger than its space, which shows and harms nothing else ¦ Make a child flexible, or scroll.
any ¦ ^MissingPluginException$ ¦ - ¦ the native part of a plugin is not registered ¦ Rebuild the app in full, and check the registration of the plugin.
dart ¦ ^SocketException$|^ClientException$ ¦ - ¦ a connection could not be made or broke ¦ Treat the failure as a normal answer: retry with a delay, and tell the user instead of failing. !
any ¦ ^StateError$ ¦ No element|Too many elements ¦ an element was taken of a collection that does not have exactly that ¦ Use firstOrNull or check for emptiness.
dart ¦ ^RangeError$ ¦ (?:index|Invalid value) ¦ an element was read of a list that does not have it ¦ Compare with the length first.
dart ¦ ^FormatException$ ¦ - ¦ a text was parsed that does not have this form ¦ Check the text first, or use tryParse.
# Python
python ¦ ^AttributeError$ ¦ 'NoneType' object has no attribute '([^']{1,80})' ¦ “$1” was read of None ¦ Check where this value comes from, and handle its absence there.
python ¦ ^AttributeError$ ¦ '([^']{1,80})' object has no attribute '([^']{1,80})' ¦ a $1 has no “$2” ¦ Check the type of the object, and a name that changed with a library.
python ¦ ^TypeError$ ¦ 'NoneType' object is not (subscriptable|iterable|callable) ¦ None was used as if it were $1 ¦ Check where this value comes from, and handle its absence there.
python ¦ ^TypeError$ ¦ missing \d+ required (?:positional|keyword-only) argument ¦ a function was called without an argument that it needs ¦ Compare the call with the signature.
python ¦ ^TypeError$ ¦ got an unexpected keyword argument '([^']{1,80})' ¦ a function was called with “$1”, which it does not take ¦ Compare the call with the signature of the installed version.
python ¦ ^TypeError$ ¦ unsupported operand type ¦ two values were combined whose types do not fit ¦ Convert one of them where it enters the program.
python ¦ ^KeyError$ ¦ ^'?([^']{1,80})'?$ ¦ the key “$1” is not in the dictionary ¦ Use get() with a default, or validate the input.
python ¦ ^IndexError$ ¦ - ¦ an element was read of a list that does not have it ¦ Compare with the length first.
any ¦ ^ZeroDivisionError$ ¦ - ¦ a number was divided by zero ¦ Check the divisor.
python ¦ ^(?:ModuleNotFoundError|ImportError)$ ¦ - ¦ a module could not be imported ¦ Declare it as a dependency, and check for a cycle of imports.
python ¦ ^RecursionError$ ¦ - ¦ functions called each other without end ¦ Find the cycle in the repeating frames, and add its missing end.
python ¦ ^Unicode(?:Decode|Encode)Error$ ¦ - ¦ bytes were read in another encoding than they have ¦ Name the encoding, and decide about errors.
python ¦ JSONDecodeError$ ¦ - ¦ a text was parsed as JSON that is none ¦ Check the status and the content type before parsing.
python ¦ ^ValueError$ ¦ invalid literal for int\(\)|could not convert string to float ¦ a text was parsed as a number that is none ¦ Validate the text first.
python ¦ (?:^|\.)DoesNotExist$ ¦ - ¦ a row was read that does not exist ¦ Answer 404, or use first().
any ¦ (?:ConnectionError|ConnectTimeout|ReadTimeout|ConnectionRefusedError|ConnectionResetError|TimeoutError)$ ¦ - ¦ another service did not answer, or not in time ¦ Treat the failure as a normal answer: retry with a delay, and tell the user instead of failing. !
any ¦ ^MemoryError$ ¦ - ¦ the process used all of its memory ¦ Read large data in pieces.
python ¦ DetachedInstanceError$ ¦ - ¦ a row was used after its session ended ¦ Load what is needed inside the session.
any ¦ ^AssertionError$ ¦ - ¦ an assertion failed ¦ Read the condition of the assertion.
# Further languages
any ¦ - ¦ invalid memory address or nil pointer dereference ¦ a nil pointer was used ¦ Check where this value comes from, and handle its absence there.
any ¦ - ¦ index out of range \[(-?\d+)\] with length (\d+) ¦ element $1 was read of a slice of $2 ¦ Compare with the length first.
any ¦ - ¦ concurrent map (?:writes|read and map write) ¦ a map was changed by two goroutines ¦ Guard it with a mutex.
any ¦ NullReferenceException$ ¦ - ¦ a reference is null and was used ¦ Check where this value comes from, and handle its absence there.
any ¦ InvalidOperationException$ ¦ Sequence contains no ¦ an element was taken of a sequence that does not have it ¦ Use FirstOrDefault().
any ¦ ^NoMethodError$ ¦ undefined method [\x60']([^\x60']{1,80})' for nil ¦ “$1” was called on nil ¦ Check where this value comes from, and handle its absence there.
any ¦ - ¦ Call to a member function (\w{1,80})\(\) on null ¦ “$1” was called on null ¦ Check where this value comes from, and handle its absence there.
any ¦ - ¦ (?:Allowed memory size of|Out of memory) ¦ the process used all of its memory ¦ Look for data that is loaded at once.
`

/** Platforms of events, by their beginning. */
const PLATFORMS: Readonly<Record<string, readonly string[]>> = {
  js: ['javascript', 'node', 'react-native', 'other'],
  jvm: ['java', 'android', 'kotlin'],
  apple: ['cocoa', 'apple', 'objc', 'swift', 'native'],
  dart: ['dart', 'flutter', 'other'],
  python: ['python'],
}

type KnownError = {
  /** Null: every platform. */
  readonly platforms: readonly string[] | null
  readonly type: RegExp | null
  readonly text: RegExp | null
  /** A clause without an end: the place follows it. */
  readonly means: string
  readonly next: string
  readonly isOutside: boolean
}

export const KNOWN_ERRORS: readonly KnownError[] = TABLE.split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => {
    const [platforms = '', type = '', text = '', means = '', next = ''] = line.split(' ¦ ')
    return {
      platforms: PLATFORMS[platforms] ?? null,
      type: type === '-' ? null : new RegExp(type),
      text: text === '-' ? null : new RegExp(writeOutCase(text)),
      means,
      next: next.replace(/ !$/, ''),
      isOutside: next.endsWith(' !'),
    }
  })

export type Recognised = Pick<KnownError, 'means' | 'next' | 'isOutside'>

const MAX_TEXT = 2_000

/**
 * The well-known error that an exception is; null for one that only this app knows.
 * @param platform of the event
 */
export function recognise(type: string | null, value: string | null, platform: string): Recognised | null {
  const given = (value ?? '').slice(0, MAX_TEXT)
  for (const known of KNOWN_ERRORS) {
    if (known.platforms !== null && !known.platforms.some((name) => platform.startsWith(name))) continue
    if (known.type !== null && !known.type.test(type ?? '')) continue
    const match = known.text === null ? [] : known.text.exec(given)
    if (match !== null) return { ...known, means: fill(known.means, match) }
  }
  return null
}

const fill = (clause: string, match: readonly (string | undefined)[]): string =>
  clause.replace(/\$(\d)/g, (_whole, n: string) => match[Number(n)] ?? 'it').replace('was set of a', 'was set on a')
