/** Reasons of crashes: Windows exception codes, signals of Linux and Android, Mach exceptions. */

export type Os = 'windows' | 'linux' | 'android' | 'macos' | 'ios' | 'unknown'

export type CrashReason = {
  /** Short name: `SIGSEGV`, `EXC_BAD_ACCESS`, `EXCEPTION_ACCESS_VIOLATION`, or the code in hexadecimal. */
  readonly type: string
  /** For display, without the address. */
  readonly text: string
  readonly signal: {
    readonly number: number
    readonly name: string
    readonly code: number
    readonly codeName: string | null
  } | null
  readonly mach: {
    readonly exception: number
    readonly name: string
    readonly code: number
    readonly subcode: number
  } | null
  /** The address that was read, written or executed, if the system reports it apart from the crash address. */
  readonly touched: bigint | null
}

const hex = (code: number): string => `0x${code.toString(16).padStart(8, '0')}`

/**
 * @param code exception code of the dump's exception record
 * @param flags its flags: `si_code` on Linux, the first code on Apple's systems
 */
export function crashReason(os: Os, code: number, flags: number, parameters: readonly bigint[]): CrashReason {
  switch (os) {
    case 'windows':
      return windowsReason(code, parameters)
    case 'macos':
    case 'ios':
      return machReason(code, flags, parameters)
    case 'linux':
    case 'android':
      return signalReason(code, flags)
    default:
      return { type: hex(code), text: `Exception ${hex(code)}`, signal: null, mach: null, touched: null }
  }
}

// --- Linux, Android -----------------------------------------------------------------------------------------------

type Signal = readonly [name: string, text: string, codes?: Readonly<Record<number, string>>]

const SIGNALS: Readonly<Record<number, Signal>> = {
  1: ['SIGHUP', 'Hang-up'],
  2: ['SIGINT', 'Interrupt'],
  3: ['SIGQUIT', 'Quit'],
  4: [
    'SIGILL',
    'Illegal instruction',
    {
      1: 'ILL_ILLOPC',
      2: 'ILL_ILLOPN',
      3: 'ILL_ILLADR',
      4: 'ILL_ILLTRP',
      5: 'ILL_PRVOPC',
      6: 'ILL_PRVREG',
      7: 'ILL_COPROC',
      8: 'ILL_BADSTK',
    },
  ],
  5: ['SIGTRAP', 'Trap', { 1: 'TRAP_BRKPT', 2: 'TRAP_TRACE', 3: 'TRAP_BRANCH', 4: 'TRAP_HWBKPT' }],
  6: ['SIGABRT', 'Abort'],
  7: [
    'SIGBUS',
    'Bus error',
    { 1: 'BUS_ADRALN', 2: 'BUS_ADRERR', 3: 'BUS_OBJERR', 4: 'BUS_MCEERR_AR', 5: 'BUS_MCEERR_AO' },
  ],
  8: [
    'SIGFPE',
    'Arithmetic error',
    {
      1: 'FPE_INTDIV',
      2: 'FPE_INTOVF',
      3: 'FPE_FLTDIV',
      4: 'FPE_FLTOVF',
      5: 'FPE_FLTUND',
      6: 'FPE_FLTRES',
      7: 'FPE_FLTINV',
      8: 'FPE_FLTSUB',
    },
  ],
  9: ['SIGKILL', 'Killed'],
  11: [
    'SIGSEGV',
    'Segmentation fault',
    { 1: 'SEGV_MAPERR', 2: 'SEGV_ACCERR', 3: 'SEGV_BNDERR', 4: 'SEGV_PKUERR', 8: 'SEGV_MTEAERR', 9: 'SEGV_MTESERR' },
  ],
  13: ['SIGPIPE', 'Broken pipe'],
  15: ['SIGTERM', 'Termination'],
  16: ['SIGSTKFLT', 'Stack fault'],
  24: ['SIGXCPU', 'Processor time used up'],
  25: ['SIGXFSZ', 'File too large'],
  31: ['SIGSYS', 'Bad system call', { 1: 'SYS_SECCOMP', 2: 'SYS_USER_DISPATCH' }],
}

/** Codes of any signal, which say who sent it. */
const SENDERS: Readonly<Record<number, string>> = { 0: 'SI_USER', 128: 'SI_KERNEL', [-1]: 'SI_QUEUE', [-6]: 'SI_TKILL' }

const WHERE: Readonly<Record<string, string>> = {
  SEGV_MAPERR: 'address not mapped',
  SEGV_ACCERR: 'access not permitted',
  FPE_INTDIV: 'integer division by zero',
  BUS_ADRALN: 'address not aligned',
  BUS_ADRERR: 'address does not exist',
}

function signalReason(number: number, flags: number): CrashReason {
  if (number === 0xffffffff)
    return { type: 'DUMP_REQUESTED', text: 'Dump requested', signal: null, mach: null, touched: null }
  const [name, text, codes] = SIGNALS[number] ?? [`Signal ${number}`, `Signal ${number}`]
  const code = flags | 0
  const codeName = codes?.[code] ?? SENDERS[code] ?? null
  const detail = codeName === null ? null : (WHERE[codeName] ?? null)
  return {
    type: name,
    text: `${text}${detail === null ? '' : `, ${detail}`}${codeName === null ? '' : ` (${codeName})`}`,
    signal: { number, name, code, codeName },
    mach: null,
    touched: null,
  }
}

// --- macOS, iOS ---------------------------------------------------------------------------------------------------

const MACH: Readonly<Record<number, readonly [name: string, text: string]>> = {
  1: ['EXC_BAD_ACCESS', 'Bad memory access'],
  2: ['EXC_BAD_INSTRUCTION', 'Bad instruction'],
  3: ['EXC_ARITHMETIC', 'Arithmetic error'],
  4: ['EXC_EMULATION', 'Emulation'],
  5: ['EXC_SOFTWARE', 'Software exception'],
  6: ['EXC_BREAKPOINT', 'Breakpoint or trap'],
  7: ['EXC_SYSCALL', 'System call'],
  8: ['EXC_MACH_SYSCALL', 'Mach system call'],
  9: ['EXC_RPC_ALERT', 'RPC alert'],
  10: ['EXC_CRASH', 'Abnormal end of the process'],
  11: ['EXC_RESOURCE', 'Resource limit'],
  12: ['EXC_GUARD', 'Guarded resource'],
  13: ['EXC_CORPSE_NOTIFY', 'Abnormal end of the process'],
}
const KERN: Readonly<Record<number, string>> = { 1: 'KERN_INVALID_ADDRESS', 2: 'KERN_PROTECTION_FAILURE' }

function machReason(exception: number, code: number, parameters: readonly bigint[]): CrashReason {
  // Crashpad's mark of a process that ended itself.
  if (exception === 0x43507378) {
    return { type: 'Simulated Exception', text: 'Dump requested', signal: null, mach: null, touched: null }
  }
  const [name, text] = MACH[exception] ?? [`Exception ${hex(exception)}`, `Exception ${hex(exception)}`]
  const kern = exception === 1 ? (KERN[code] ?? null) : null
  return {
    type: name,
    text: `${text}${kern === null ? (code === 0 ? '' : ` (code ${hex(code)})`) : ` (${kern})`}`,
    signal: null,
    mach: { exception, name, code, subcode: Number(BigInt.asUintN(53, parameters[2] ?? parameters[1] ?? 0n)) },
    touched: null,
  }
}

// --- Windows ------------------------------------------------------------------------------------------------------

const WINDOWS: Readonly<Record<number, readonly [name: string, text: string]>> = {
  0x40010005: ['DBG_CONTROL_C', 'Control-C'],
  0x80000001: ['EXCEPTION_GUARD_PAGE', 'Guard page touched'],
  0x80000002: ['EXCEPTION_DATATYPE_MISALIGNMENT', 'Data not aligned'],
  0x80000003: ['EXCEPTION_BREAKPOINT', 'Breakpoint'],
  0x80000004: ['EXCEPTION_SINGLE_STEP', 'Single step'],
  0xc0000005: ['EXCEPTION_ACCESS_VIOLATION', 'Access violation'],
  0xc0000006: ['EXCEPTION_IN_PAGE_ERROR', 'Page could not be read'],
  0xc0000008: ['EXCEPTION_INVALID_HANDLE', 'Invalid handle'],
  0xc0000017: ['STATUS_NO_MEMORY', 'Out of memory'],
  0xc000001d: ['EXCEPTION_ILLEGAL_INSTRUCTION', 'Illegal instruction'],
  0xc0000025: ['EXCEPTION_NONCONTINUABLE_EXCEPTION', 'Continued after an exception that ends the process'],
  0xc0000026: ['EXCEPTION_INVALID_DISPOSITION', 'Invalid exception handler'],
  0xc000008c: ['EXCEPTION_ARRAY_BOUNDS_EXCEEDED', 'Array bounds exceeded'],
  0xc000008d: ['EXCEPTION_FLT_DENORMAL_OPERAND', 'Floating point: denormal operand'],
  0xc000008e: ['EXCEPTION_FLT_DIVIDE_BY_ZERO', 'Floating point: division by zero'],
  0xc000008f: ['EXCEPTION_FLT_INEXACT_RESULT', 'Floating point: inexact result'],
  0xc0000090: ['EXCEPTION_FLT_INVALID_OPERATION', 'Floating point: invalid operation'],
  0xc0000091: ['EXCEPTION_FLT_OVERFLOW', 'Floating point: overflow'],
  0xc0000092: ['EXCEPTION_FLT_STACK_CHECK', 'Floating point: stack check'],
  0xc0000093: ['EXCEPTION_FLT_UNDERFLOW', 'Floating point: underflow'],
  0xc0000094: ['EXCEPTION_INT_DIVIDE_BY_ZERO', 'Integer division by zero'],
  0xc0000095: ['EXCEPTION_INT_OVERFLOW', 'Integer overflow'],
  0xc0000096: ['EXCEPTION_PRIV_INSTRUCTION', 'Privileged instruction'],
  0xc00000fd: ['EXCEPTION_STACK_OVERFLOW', 'Stack overflow'],
  0xc0000135: ['STATUS_DLL_NOT_FOUND', 'A DLL is missing'],
  0xc0000139: ['STATUS_ENTRYPOINT_NOT_FOUND', 'An entry point is missing'],
  0xc0000142: ['STATUS_DLL_INIT_FAILED', 'A DLL could not start'],
  0xc0000194: ['EXCEPTION_POSSIBLE_DEADLOCK', 'Possible deadlock'],
  0xc0000374: ['STATUS_HEAP_CORRUPTION', 'Heap corruption'],
  0xc0000409: ['STATUS_STACK_BUFFER_OVERRUN', 'Stack buffer overrun, or the process ended itself at once'],
  0xc0000417: ['STATUS_INVALID_CRUNTIME_PARAMETER', 'Invalid parameter to a C library function'],
  0xc0000420: ['STATUS_ASSERTION_FAILURE', 'Assertion failed'],
  0xc06d007e: ['EXCEPTION_MODULE_NOT_FOUND', 'A delay-loaded module is missing'],
  0xc06d007f: ['EXCEPTION_PROC_NOT_FOUND', 'A delay-loaded function is missing'],
  0xe06d7363: ['C++ exception', 'Unhandled C++ exception'],
  0xe0434352: ['CLR exception', 'Unhandled .NET exception'],
  0x0517a7ed: ['Simulated Exception', 'Dump requested'],
}

const TOUCHING = new Map([
  [0n, 'reading'],
  [1n, 'writing'],
  [8n, 'executing'],
])

function windowsReason(code: number, parameters: readonly bigint[]): CrashReason {
  const [name, text] = WINDOWS[code] ?? [hex(code), `Exception ${hex(code)}`]
  const isAccess = (code === 0xc0000005 || code === 0xc0000006) && parameters.length >= 2
  const how = isAccess ? TOUCHING.get(parameters[0] ?? -1n) : undefined
  return {
    type: name,
    text: how === undefined ? text : `${text} ${how}`,
    signal: null,
    mach: null,
    touched: isAccess ? (parameters[1] ?? null) : null,
  }
}
