/**
 * AssemblyScript. Finds what the scrubber could find (server/events/protocol/scrub-text.ts, scrub-numbers.ts): every name and
 * form of a secret, and sometimes more.
 */
import {
  QUOTE,
  DASH,
  DOT,
  SLASH,
  AT,
  BRACKET,
  BACKSLASH,
  BRACKET_END,
  UNDERSCORE,
  is,
  isDigit,
  isLetter,
} from './bytes'

/** The end of the last sequence of digits, and the last `@`, so that neither is read twice. */
let digitsUntil: usize = 0
let lastAt: usize = 0

function same(v: v128, c: u8): v128 {
  return i8x16.eq(v, i8x16.splat(c))
}

function digitsOf(v: v128): v128 {
  return i8x16.lt_u(i8x16.sub(v, i8x16.splat(0x30)), i8x16.splat(10))
}

/**
 * Tables of pairs of characters: by the lower and the upper half of the second one, then of the first one. A character
 * belongs to the groups whose bit both halves have.
 */
const PAIRS = memory.data(64)
const SEPARATORS: u8 = 128

function mark(table: usize, c: u8, group: u8): void {
  const low = PAIRS + table + (c & 15)
  const high = PAIRS + table + 16 + (c >> 4)
  store<u8>(low, load<u8>(low) | group)
  store<u8>(high, load<u8>(high) | group)
}

/** Letters in both cases. @param before up to three characters, as bytes of a number */
function pair(group: u8, c: u8, before: u32): void {
  mark(0, c, group)
  mark(0, c ^ 0x20, group)
  for (; before != 0; before >>= 8) {
    mark(32, <u8>before, group)
    mark(32, <u8>before ^ 0x20, group)
  }
}

pair(1, 0x6b, 0x6f6965) // k of token, apikey, privatekey, cookie
pair(2, 0x77, 0x737074) // w of password, passwd, mysqlpwd, twofactor
pair(4, 0x66, 0x726d) // f of csrf, xsrf; symfony
pair(4, 0x68, 0x70) // h of passphrase
pair(8, 0x75, 0x61) // u of auth
pair(16, 0x72, 0x63) // r of secret, credentials
pair(32, 0x65, 0x62) // e of bearer, and behind a separator of device.event
pair(32, 0x6d, 0) // m behind a separator: app_memory
mark(0, 0x68, 64) // /home, /Users, /Documents
mark(0, 0x55, 64)
mark(0, 0x44, 64)
mark(32, SLASH, 64)
mark(32, BACKSLASH, 64)
mark(32, DASH, SEPARATORS)
mark(32, UNDERSCORE, SEPARATORS)
mark(32, DOT, SEPARATORS)
mark(32, 0x20, SEPARATORS)

/**
 * Whether a part may have a secret (scrub-text.ts). Vectors find a pair of characters of every name and form; `findsAt`
 * looks closer. Characters of a name may have separators or escapes between them.
 */
export function finds(start: usize, stop: usize): bool {
  digitsUntil = start
  lastAt = start
  const low = v128.load(PAIRS)
  const high = v128.load(PAIRS, 16)
  const lowBefore = v128.load(PAIRS, 32)
  const highBefore = v128.load(PAIRS, 48)
  const half = i8x16.splat(15)
  const fold = i8x16.splat(0x20)
  const none = i8x16.splat(0)
  for (let i = start; i < stop; i += 16) {
    const c = v128.load(i)
    const before = v128.load(i - 1)
    const second = v128.and(i8x16.swizzle(low, v128.and(c, half)), i8x16.swizzle(high, i8x16.shr_u(c, 4)))
    const first = v128.and(
      i8x16.swizzle(lowBefore, v128.and(before, half)),
      i8x16.swizzle(highBefore, i8x16.shr_u(before, 4)),
    )
    // Separators and characters beyond ASCII have the highest bit; behind an escape any character may follow.
    const third = v128.load(i - 2)
    const isApart = v128.or(i8x16.lt_s(v128.or(first, before), none), same(third, BACKSLASH))
    const pairs = i8x16.ne(v128.and(second, v128.or(first, isApart)), none)
    const l0 = v128.or(c, fold)
    const l1 = v128.or(before, fold)
    // otp, sess, sid
    const l2 = v128.or(third, fold)
    const together = v128.or(
      v128.or(
        v128.and(v128.and(same(l0, 0x70), same(l1, 0x74)), same(l2, 0x6f)),
        v128.and(v128.and(same(l0, 0x73), same(l1, 0x73)), same(l2, 0x65)),
      ),
      v128.and(v128.and(same(l0, 0x64), same(l1, 0x69)), same(l2, 0x73)),
    )
    // The second one of a row.
    const digits = v128.andnot(v128.and(digitsOf(c), digitsOf(before)), digitsOf(third))
    const marks = v128.or(same(c, AT), same(c, 0x84))
    let found = i8x16.bitmask(v128.or(v128.or(pairs, together), v128.or(digits, marks)))
    if (stop - i < 16) found &= (1 << (<i32>(stop - i))) - 1
    while (found != 0) {
      if (findsAt(i + ctz(found), start)) return true
      found &= found - 1
    }
  }
  return false
}

const TOKEN = memory.data<u8>([116, 111, 107, 101, 110])
const API_KEY = memory.data<u8>([97, 112, 105, 107, 101, 121])
const PRIVATE_KEY = memory.data<u8>([112, 114, 105, 118, 97, 116, 101, 107, 101, 121])
const COOKIE = memory.data<u8>([99, 111, 111, 107, 105, 101])
const PASSWORD = memory.data<u8>([112, 97, 115, 115, 119, 111, 114, 100])
const PASSWD = memory.data<u8>([112, 97, 115, 115, 119, 100])
const MYSQL_PWD = memory.data<u8>([109, 121, 115, 113, 108, 112, 119, 100])
const TWO_FACTOR = memory.data<u8>([116, 119, 111, 102, 97, 99, 116, 111, 114])
const CSRF = memory.data<u8>([99, 115, 114, 102])
const XSRF = memory.data<u8>([120, 115, 114, 102])
const PASSPHRASE = memory.data<u8>([112, 97, 115, 115, 112, 104, 114, 97, 115, 101])
const AUTH = memory.data<u8>([97, 117, 116, 104])
const SECRET = memory.data<u8>([115, 101, 99, 114, 101, 116])
const CREDENTIALS = memory.data<u8>([99, 114, 101, 100, 101, 110, 116, 105, 97, 108, 115])
const BEARER = memory.data<u8>([98, 101, 97, 114, 101, 114])
const SYMFONY = memory.data<u8>([115, 121, 109, 102, 111, 110, 121])
const HOME = memory.data<u8>([104, 111, 109, 101])
const USERS = memory.data<u8>([85, 115, 101, 114, 115])
const DOCUMENTS = memory.data<u8>([68, 111, 99, 117, 109, 101, 110, 116, 115])
const DEVICE_EVENT = memory.data<u8>([100, 101, 118, 105, 99, 101, 46, 101, 118, 101, 110, 116])
const APP_MEMORY = memory.data<u8>([97, 112, 112, 95, 109, 101, 109, 111, 114, 121])
const OTP = memory.data<u8>([111, 116, 112])
const SESS = memory.data<u8>([115, 101, 115, 115])
const ION_ID = memory.data<u8>([105, 111, 110, 105, 100])
const IRC_LOG = memory.data<u8>([105, 114, 99, 108, 111, 103])
const LARAVEL = memory.data<u8>([108, 97, 114, 97, 118, 101, 108, 95])
const MY = memory.data<u8>([109, 121])
const USER = memory.data<u8>([117, 115, 101, 114, 95])
const DUNDER = memory.data<u8>([95, 95])
const PHP = memory.data<u8>([112, 104, 112])
const CONNECT = memory.data<u8>([99, 111, 110, 110, 101, 99, 116, 46, 115, 105, 100])
const SENTRY = memory.data<u8>([115, 101, 110, 116, 114, 121, 115, 105, 100])

function lower(c: u8): u8 {
  return c - 0x41 < 26 ? c | 0x20 : c
}

function isSeparator(c: u8): bool {
  return c == DASH || c == UNDERSCORE || c == DOT || c == 0x20 || c >= 0x80
}

/** The backslashes in a row before a place. */
function backslashesBefore(place: usize): usize {
  let before = place - 1
  while (load<u8>(before) == BACKSLASH) before--
  return place - 1 - before
}

/** The place of the character before, without separators and escapes. */
function previous(place: usize): usize {
  while (true) {
    place--
    const c = load<u8>(place)
    const count = backslashesBefore(place)
    if (c == BACKSLASH || (count & 1) == 1) place -= count
    else if (!isSeparator(c)) return place
  }
}

/** The place of the character behind, without separators and escapes. */
function next(place: usize): usize {
  while (true) {
    place++
    const c = load<u8>(place)
    if (c == BACKSLASH) place++
    else if (!isSeparator(c)) return place
  }
}

/** Where the last letter of a name stands, whose letter `index` stands at a place; 0 for another name. */
function nameAt(place: usize, name: usize, length: i32, index: i32): usize {
  let one = place
  for (let i = index - 1; i >= 0; i--) {
    one = previous(one)
    if (lower(load<u8>(one)) != load<u8>(name + i)) return 0
  }
  one = place
  for (let i = index + 1; i < length; i++) {
    one = next(one)
    if (lower(load<u8>(one)) != load<u8>(name + i)) return 0
  }
  return one
}

/** Whether these letters are here, in any case, without anything between. */
function isHere(place: usize, name: usize, length: i32): bool {
  for (let i = 0; i < length; i++) if (lower(load<u8>(place + i)) != load<u8>(name + i)) return false
  return true
}

/** @param start of the part */
function findsAt(i: usize, start: usize): bool {
  const c = load<u8>(i)
  if (c == AT) return isUserOfAddress(i)
  if (c == 0x84) return load<u8>(i - 1) == 0xe2 && load<u8>(i + 1) == 0xaa // a sign whose small letter is k
  if (isDigit(c)) return isIban(i - 3) || isLongNumber(i, start)
  const before = load<u8>(i - 1)
  if (before == SLASH || before == BACKSLASH) {
    if (c == 0x44 && is(i, DOCUMENTS, 9)) return true
    const folder: usize = c == 0x68 && is(i, HOME, 4) ? 4 : c == 0x55 && is(i, USERS, 5) ? 5 : 0
    const after = load<u8>(i + folder)
    if (folder > 0 && (after == SLASH || after == BACKSLASH)) return true
  }
  switch (lower(c)) {
    case 0x70:
      return isHere(i - 2, OTP, 3) && isOtp(i - 2)
    case 0x73:
      return isHere(i - 3, SESS, 4) && isSession(i - 3)
    case 0x64:
      return isHere(i - 10, CONNECT, 11) || isHere(i - 8, SENTRY, 9)
    case 0x6d:
      return is(i - 4, APP_MEMORY, 10)
    case 0x65:
      if (before == DOT && is(i - 7, DEVICE_EVENT, 12)) return true
  }
  // An escaped character is no letter. Looking for the one before it would read all escapes before it, again for each of them.
  if ((backslashesBefore(i) & 1) == 1) return false
  switch (((<u32>lower(c)) << 8) | lower(load<u8>(previous(i)))) {
    case 0x6b6f: // ok
      return nameAt(i, TOKEN, 5, 2) != 0 || nameAt(i, COOKIE, 6, 3) != 0
    case 0x6b69: // ik
      return nameAt(i, API_KEY, 6, 3) != 0
    case 0x6b65: // ek
      return nameAt(i, PRIVATE_KEY, 10, 7) != 0
    case 0x7773: // sw
      return nameAt(i, PASSWORD, 8, 4) != 0 || nameAt(i, PASSWD, 6, 4) != 0
    case 0x7770: // pw
      return nameAt(i, MYSQL_PWD, 8, 6) != 0
    case 0x7774: // tw
      return nameAt(i, TWO_FACTOR, 9, 1) != 0
    case 0x6672: // rf
      return nameAt(i, CSRF, 4, 3) != 0 || nameAt(i, XSRF, 4, 3) != 0
    case 0x666d: // mf
      return isHere(i - 3, SYMFONY, 7)
    case 0x6870: // ph
      return nameAt(i, PASSPHRASE, 10, 5) != 0
    case 0x7561: // au
      return isAuth(i)
    case 0x7263: // cr
      return nameAt(i, SECRET, 6, 3) != 0 || nameAt(i, CREDENTIALS, 11, 1) != 0
    case 0x6562: // be
      return nameAt(i, BEARER, 6, 1) != 0
    default:
      return false
  }
}

/** `auth`, but not of author, authored or authority. */
function isAuth(u: usize): bool {
  const last = nameAt(u, AUTH, 4, 1)
  if (last == 0) return false
  if (lower(load<u8>(last + 1)) != 0x6f || lower(load<u8>(last + 2)) != 0x72) return true
  if (lower(load<u8>(last + 3)) != 0x69) return false
  const c = lower(load<u8>(last + 4))
  return c == 0x73 || c == 0x7a
}

const MAX_NAME: usize = 80

/** `otp` or `totp` at the start or end of a word, or where a long name is cut. */
function isOtp(place: usize): bool {
  if (!isLetter(load<u8>(place + 3)) || isStart(place)) return true
  if (lower(load<u8>(place - 1)) == 0x74 && isStart(place - 1)) return true
  for (let i = place + 3; i < place + MAX_NAME - 1; i++) {
    const c = load<u8>(i)
    const isName =
      isLetter(c) ||
      isDigit(c) ||
      c == UNDERSCORE ||
      c == DOT ||
      c == DASH ||
      c == BRACKET ||
      c == BRACKET_END ||
      c == 0x25 ||
      c == 0x24
    if (!isName) return false
  }
  return true
}

/** Whether no letter stands before a place. */
function isStart(place: usize): bool {
  return !isLetter(load<u8>(place - 1)) || (backslashesBefore(place - 1) & 1) == 1
}

/** Names of session cookies. @param place of `sess` */
function isSession(place: usize): bool {
  const isPhp = load<u8>(place + 4) | 0x20
  if (isPhp == 0x69 && (load<u8>(place + 5) | 0x20) == 0x64) return isHere(place - 3, PHP, 3)
  if (!isHere(place + 4, ION_ID, 3)) return false
  return (
    isHere(place + 4, ION_ID, 5) ||
    isHere(place - 6, IRC_LOG, 6) ||
    isHere(place - 8, LARAVEL, 8) ||
    isHere(place - 2, MY, 2) ||
    isHere(place - 5, USER, 5) ||
    isHere(place - 4, USER, 4) ||
    isHere(place - 2, DUNDER, 2)
  )
}

/** Whether an `@` may end the user of a URL: nothing that ends one stands between it and `//`. */
function isUserOfAddress(place: usize): bool {
  const limit = lastAt
  lastAt = place
  for (let i = place - 1; i > limit; i--) {
    const c = load<u8>(i)
    if (c == SLASH) return load<u8>(i - 1) == SLASH || (load<u8>(i - 1) == BACKSLASH && load<u8>(i - 2) == SLASH)
    if (c <= 0x20 || c == BACKSLASH || c == QUOTE || c == 0x23 || c == 0x27 || c == 0x3c || c == 0x3e || c == 0x3f)
      return false
  }
  return false
}

/** Digits, spaces and dashes around a place: of a card (from 14 digits) or of social security (3, 2 and 4 digits). */
function isLongNumber(place: usize, start: usize): bool {
  if (place < digitsUntil) return false
  let first = place
  while (first > start && isNumberPart(load<u8>(first - 1))) first--
  let count = 0
  let i = first
  for (; isNumberPart(load<u8>(i)); i++) {
    const c = load<u8>(i)
    if (isDigit(c)) count++
    // The run has the digits of the form 000-00-0000.
    else if (c == DASH && i >= first + 3 && isDigits(i - 3, 3) && isDigits(i + 1, 2) && load<u8>(i + 3) == DASH)
      if (isDigits(i + 4, 4)) return true
  }
  digitsUntil = i
  return count >= 14
}

function isNumberPart(c: u8): bool {
  return isDigit(c) || c == 0x20 || c == DASH
}

function isDigits(place: usize, count: usize): bool {
  for (let i = place; i < place + count; i++) if (!isDigit(load<u8>(i))) return false
  return true
}

/** Two capitals and two digits at the start of a word, then at least 11 capitals and digits in groups. */
function isIban(place: usize): bool {
  if (load<u8>(place) - 0x41 >= 26 || load<u8>(place + 1) - 0x41 >= 26 || !isDigits(place + 2, 2)) return false
  const before = load<u8>(place - 1)
  if (isDigit(before) || (isLetter(before) && (backslashesBefore(place - 1) & 1) == 0)) return false
  let count = 0
  for (let i = place + 4; count < 11; i++) {
    let c = load<u8>(i)
    if (c == 0x20) c = load<u8>(++i)
    if (!isDigit(c) && c - 0x41 >= 26) return false
    count++
  }
  return true
}
