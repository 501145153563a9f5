/**
 * AssemblyScript. Leaves out of an event's JSON what only pages show, in one pass over its bytes
 * (server/events/protocol/leave-out.ts): breadcrumbs, extra, modules, variables and lines around frames become `null`.
 * A part stays unless it is valid JSON in which neither the guard nor the scrubber could find anything. Every check may
 * keep a part too many, and takes time linear in the bytes.
 *
 * The rest is not checked here: `JSON.parse` refuses the result exactly where it refuses the whole text.
 */
import {
  QUOTE,
  COMMA,
  DASH,
  DOT,
  SLASH,
  COLON,
  BRACKET,
  BACKSLASH,
  BRACKET_END,
  BRACE,
  BRACE_END,
  is,
  isDigit,
  isLetter,
} from './bytes'
import { finds } from './secrets'

/** Addresses. Vectors may read up to 64 bytes behind the input. */
const KEYS: usize = 0x8000
export const INPUT: i32 = 0x10000
export const OUTPUT: i32 = 0x41000
export const MAX_BYTES: i32 = 200_000
const MAX_DEPTH: i32 = 64
/** A shorter value costs less when it is parsed. */
const MIN_VALUE_BYTES: usize = 12

// --- Structure ------------------------------------------------------------------------------------------------------

/** The next byte to read. */
let at: usize = 0
let end: usize = 0
/** The end of what was written, and the first byte that was neither written nor left out. */
let out: usize = 0
let from: usize = 0
/** Whether the part being checked stays. */
let stays: bool = false

/** The meaning of a value, by its place: only for these places is known what digestion reads. */
const OTHER: i32 = 0
const ROOT: i32 = 1
/** `exception` or `threads`, and its `values`. */
const HOLDER: i32 = 2
const STACK: i32 = 3
const FRAMES: i32 = 4
const FRAME: i32 = 5
/** `breadcrumbs`; each element is a part. */
const CRUMBS: i32 = 6
const PART: i32 = 7
/** `modules`, which are never scrubbed. */
const MODULES: i32 = 8
/** Inside a part: it must be valid JSON, and sets `stays` for what the guard must see. */
const CHECKED: i32 = 9
/** An element of `exception` or `threads`; not a list, whose first element may be the name of a secret. */
const ENTRY: i32 = 10

/** @returns the length of the output; 0 when too little could be left out */
export function leaveOut(length: i32): i32 {
  at = INPUT
  end = at + length
  from = at
  out = OUTPUT
  v128.store(end, i64x2.splat(0))
  if (lastObject > 0xf0000000) {
    memory.fill(KEYS, 0, SLOTS * 8)
    lastObject = 0
  }
  firstObject = lastObject + 1
  keys = 0
  space()
  if (load<u8>(at) != BRACE || !read(ROOT, 1)) return 0
  space()
  if (at != end) return 0
  copyTo(end)
  const written = <i32>(out - OUTPUT)
  return length - written < length >> 3 ? 0 : written
}

function copyTo(until: usize): void {
  memory.copy(out, from, until - from)
  out += until - from
}

function space(): void {
  let c = load<u8>(at)
  while (c <= 0x20 && (c == 0x20 || c == 0x0a || c == 0x0d || c == 0x09)) c = load<u8>(++at)
}

/** Reads a value at its first byte. @returns false when it cannot be read */
function read(role: i32, depth: i32): bool {
  const c = load<u8>(at)
  if (c == QUOTE) return role == CHECKED ? checkString() : skipString()
  const isOpen = c == BRACE || c == BRACKET
  if (isOpen && (role == PART || role == MODULES)) return readPart(role, depth)
  if (isOpen) return depth <= MAX_DEPTH && (c == BRACE ? readObject(role, depth) : readList(role, depth))
  if (role == CHECKED) return checkScalar(c)
  const start = at
  for (let n = c; isLetter(n) || isDigit(n) || n == DASH || n == DOT || n == 0x2b; n = load<u8>(at)) at++
  return at > start
}

function readObject(role: i32, depth: i32): bool {
  const object = role == CHECKED ? ++lastObject : 0
  at++
  space()
  if (load<u8>(at) == BRACE_END) {
    at++
    return true
  }
  while (true) {
    if (load<u8>(at) != QUOTE) return false
    const key = at + 1
    if (!(role == CHECKED ? checkString() : skipString())) return false
    if (role == CHECKED && !isNewKey(object, key, at - 1)) stays = true
    const inner = role == OTHER || role == CHECKED ? role : roleOf(role, key, <i32>(at - 1 - key))
    space()
    if (load<u8>(at) != COLON) return false
    at++
    space()
    if (!read(inner, depth + 1)) return false
    space()
    const c = load<u8>(at)
    at++
    if (c == BRACE_END) return true
    if (c != COMMA) return false
    space()
  }
}

function readList(role: i32, depth: i32): bool {
  let inner = OTHER
  if (role == CHECKED) inner = CHECKED
  else if (role == HOLDER) inner = ENTRY
  else if (role == STACK || role == FRAMES) inner = FRAME
  else if (role == CRUMBS) inner = PART
  at++
  space()
  if (load<u8>(at) == BRACKET_END) {
    at++
    return true
  }
  while (true) {
    if (!read(inner, depth + 1)) return false
    space()
    const c = load<u8>(at)
    at++
    if (c == BRACKET_END) return true
    if (c != COMMA) return false
    space()
  }
}

/** Names as bytes. */
const VALUES = memory.data<u8>([118, 97, 108, 117, 101, 115])
const EXCEPTION = memory.data<u8>([101, 120, 99, 101, 112, 116, 105, 111, 110])
const THREADS = memory.data<u8>([116, 104, 114, 101, 97, 100, 115])
const RAW_STACKTRACE = memory.data<u8>([114, 97, 119, 95, 115, 116, 97, 99, 107, 116, 114, 97, 99, 101])
const STACK_FRAMES = memory.data<u8>([102, 114, 97, 109, 101, 115])
const BREADCRUMBS = memory.data<u8>([98, 114, 101, 97, 100, 99, 114, 117, 109, 98, 115])
const EXTRA = memory.data<u8>([101, 120, 116, 114, 97])
const MODULES_KEY = memory.data<u8>([109, 111, 100, 117, 108, 101, 115])
const VARS = memory.data<u8>([118, 97, 114, 115])
const PRE_CONTEXT = memory.data<u8>([112, 114, 101, 95, 99, 111, 110, 116, 101, 120, 116])
const POST_CONTEXT = memory.data<u8>([112, 111, 115, 116, 95, 99, 111, 110, 116, 101, 120, 116])
const PROTO = memory.data<u8>([95, 95, 112, 114, 111, 116, 111, 95, 95])
const PROTOTYPE = memory.data<u8>([112, 114, 111, 116, 111, 116, 121, 112, 101])
const CONSTRUCTOR = memory.data<u8>([99, 111, 110, 115, 116, 114, 117, 99, 116, 111, 114])

/** The meaning of the value of a key. */
function roleOf(role: i32, key: usize, length: i32): i32 {
  if (role == FRAME) {
    if (length == 4) return is(key, VARS, 4) ? PART : OTHER
    if (length == 11) return is(key, PRE_CONTEXT, 11) ? PART : OTHER
    return length == 12 && is(key, POST_CONTEXT, 12) ? PART : OTHER
  }
  if (role == HOLDER || role == ENTRY) {
    if (length == 6) return role == HOLDER && is(key, VALUES, 6) ? HOLDER : OTHER
    if (length == 10) return is(key, RAW_STACKTRACE + 4, 10) ? STACK : OTHER
    return length == 14 && is(key, RAW_STACKTRACE, 14) ? STACK : OTHER
  }
  if (role == STACK) return length == 6 && is(key, STACK_FRAMES, 6) ? FRAMES : OTHER
  if (role == CRUMBS) return length == 6 && is(key, VALUES, 6) ? CRUMBS : OTHER
  if (role != ROOT) return OTHER
  if (length == 5) return is(key, EXTRA, 5) ? PART : OTHER
  if (length == 7) return is(key, THREADS, 7) ? HOLDER : is(key, MODULES_KEY, 7) ? MODULES : OTHER
  if (length == 9) return is(key, EXCEPTION, 9) ? HOLDER : OTHER
  if (length == 10) return is(key, RAW_STACKTRACE + 4, 10) ? STACK : OTHER
  return length == 11 && is(key, BREADCRUMBS, 11) ? CRUMBS : OTHER
}

/** Moves behind the string whose quote is here. */
function skipString(): bool {
  at++
  while (true) {
    const v = v128.load(at)
    const found = i8x16.bitmask(v128.or(i8x16.eq(v, i8x16.splat(QUOTE)), i8x16.eq(v, i8x16.splat(BACKSLASH))))
    if (found == 0) {
      at += 16
      if (at >= end) return false
      continue
    }
    at += ctz(found)
    if (at >= end) return false
    if (load<u8>(at) == QUOTE) {
      at++
      return true
    }
    at += 2
  }
}

// --- Parts ----------------------------------------------------------------------------------------------------------

function readPart(role: i32, depth: i32): bool {
  const start = at
  stays = false
  if (!read(CHECKED, depth)) return false
  if (stays || at - start < MIN_VALUE_BYTES || (role == PART && finds(start, at))) return true
  copyTo(start)
  store<u32>(out, 0x6c6c756e)
  out += 4
  from = at
  return true
}

function checkScalar(c: u8): bool {
  if (c == DASH || isDigit(c)) return checkNumber()
  const word = load<u32>(at)
  const isFalse = word == 0x736c6166 && load<u8>(at + 4) == 0x65
  if (!isFalse && word != 0x65757274 && word != 0x6c6c756e) return false
  at += isFalse ? 5 : 4
  return true
}

/** A table of the keys of all objects: the number of the object, and a hash of the key. */
const SLOTS: usize = 4096
const MAX_KEYS: i32 = 3000
let lastObject: u32 = 0
/** Entries of objects before it belong to other documents. */
let firstObject: u32 = 0
let keys: i32 = 0

/** Whether an object has no other key like this one; false also for a key that is forbidden or written with escapes. */
function isNewKey(object: u32, start: usize, stop: usize): bool {
  let hash: u32 = 0x811c9dc5
  for (let i = start; i < stop; i++) {
    const c = load<u8>(i)
    // Bytes that are no UTF-8 are read alike.
    if (c == BACKSLASH || c >= 0x80) return false
    hash = (hash ^ c) * 0x01000193
  }
  const length = <i32>(stop - start)
  if (length == 9 && (is(start, PROTO, 9) || is(start, PROTOTYPE, 9))) return false
  if (length == 11 && is(start, CONSTRUCTOR, 11)) return false
  if (++keys > MAX_KEYS) return false
  const entry: u64 = ((<u64>object) << 32) | hash
  let slot: usize = (hash ^ (object * 0x9e3779b1)) >> 20
  while (true) {
    const known = load<u64>(KEYS + slot * 8)
    if (known == entry) return false
    if (<u32>(known >> 32) < firstObject) {
      store<u64>(KEYS + slot * 8, entry)
      return true
    }
    slot = (slot + 1) & (SLOTS - 1)
  }
}

function checkString(): bool {
  at++
  const first = load<u8>(at)
  // It may be JSON, whose own escapes would be in the way.
  if (first == BRACE || first == BRACKET) stays = true
  while (true) {
    const v = v128.load(at)
    const found = i8x16.bitmask(
      v128.or(
        v128.or(i8x16.eq(v, i8x16.splat(QUOTE)), i8x16.eq(v, i8x16.splat(BACKSLASH))),
        i8x16.lt_u(v, i8x16.splat(0x20)),
      ),
    )
    if (found == 0) {
      at += 16
      continue
    }
    at += ctz(found)
    if (at >= end) return false
    const c = load<u8>(at)
    if (c == QUOTE) {
      at++
      return true
    }
    if (c != BACKSLASH) return false
    switch (load<u8>(at + 1)) {
      case 0x75: // u
      case 0x62: // b, which ends no user name in an address
        stays = true
        break
      case QUOTE:
      case BACKSLASH:
      case SLASH:
      case 0x66: // f
      case 0x6e: // n
      case 0x72: // r
      case 0x74: // t
        break
      default:
        return false
    }
    at += 2
  }
}

function checkNumber(): bool {
  if (load<u8>(at) == DASH) at++
  let digits = 1
  const first = load<u8>(at) - 0x30
  if (first > 9) return false
  at++
  if (first != 0) digits += skipDigits()
  if (load<u8>(at) == DOT) {
    at++
    const decimals = skipDigits()
    if (decimals == 0) return false
    digits += decimals
  }
  if ((load<u8>(at) | 0x20) == 0x65) {
    stays = true
    at++
    const sign = load<u8>(at)
    if (sign == DASH || sign == 0x2b) at++
    if (skipDigits() == 0) return false
  }
  if (digits >= 16) stays = true
  return true
}

function skipDigits(): i32 {
  const start = at
  while (isDigit(load<u8>(at))) at++
  return <i32>(at - start)
}
