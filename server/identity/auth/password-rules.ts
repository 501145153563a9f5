import { invalid } from '../../platform/kernel/errors.ts'

/** Password rules (docs/accounts.md). The length is always checked; PASSWORD_CHECK decides about weak passwords. */

const MIN_CHARACTERS = 8
const MAX_CHARACTERS = 256
const MAX_BYTES = 1024

/**
 * @param field the field of the API, for the message
 * @throws AppError invalid when too short, too long or not well-formed text
 */
export function checkPasswordLength(password: string, field: string): void {
  // Half a surrogate pair would be hashed as U+FFFD, the same for every half.
  if (!password.isWellFormed()) throw invalid(`${field} is not valid Unicode text.`)
  const characters = Array.from(password).length
  if (characters < MIN_CHARACTERS) throw invalid(`${field} must have at least ${MIN_CHARACTERS} characters.`)
  if (characters > MAX_CHARACTERS || Buffer.byteLength(password) > MAX_BYTES) {
    throw invalid(`${field} must have at most ${MAX_CHARACTERS} characters.`)
  }
}

/** Texts that a password must not consist of. */
export type PasswordSubject = { readonly email: string; readonly name: string; readonly org: string }

/** @returns a sentence that names the weakness, or null */
export async function passwordWeakness(password: string, subject: PasswordSubject): Promise<string | null> {
  const folded = fold(password)
  const terms: readonly (readonly [string, string])[] = [
    [subject.email, 'your e-mail address'],
    [subject.email.split('@', 1)[0] ?? '', 'the first part of your e-mail address'],
    [subject.name, 'your name'],
    [subject.org, "your organisation's name"],
    ['Faultline', 'the name of this product'],
  ]
  for (const [term, called] of terms) {
    if (isTermWithDigits(folded, fold(term))) return `This password is little more than ${called}.`
  }
  if (await isCommonPassword(password)) return 'This password is one of the most common ones.'
  return null
}

/**
 * Applies PASSWORD_CHECK to a new password.
 * @returns a warning for the response, or null
 * @throws AppError invalid in mode `block`
 */
export async function judgePassword(
  mode: 'block' | 'warn' | 'off',
  password: string,
  subject: PasswordSubject,
): Promise<string | null> {
  if (mode === 'off') return null
  const weakness = await passwordWeakness(password, subject)
  if (weakness === null) return null
  if (mode === 'block') throw invalid(`${weakness} Choose another one.`)
  return `${weakness} Choose another one before you use this installation in production.`
}

const fold = (text: string): string => text.normalize('NFKC').toLowerCase().replaceAll(/\s+/g, '')

/** The term alone, or with only digits before and after it. */
function isTermWithDigits(folded: string, term: string): boolean {
  if (term === '') return false
  for (let at = folded.indexOf(term); at !== -1; at = folded.indexOf(term, at + 1)) {
    if (/^\d*$/.test(folded.slice(0, at)) && /^\d*$/.test(folded.slice(at + term.length))) return true
  }
  return false
}

let commonPasswords: Promise<ReadonlySet<string>> | null = null

/**
 * Whether the password is one of the 49,233 most common (the offline list of zxcvbn), in any case.
 * The first call unpacks the list (22 ms, 4 MB).
 */
async function isCommonPassword(password: string): Promise<boolean> {
  commonPasswords ??= import('@zxcvbn-ts/language-common').then(
    ({ dictionary }) => new Set(dictionary['passwords-common'].filter((word) => word.length >= 8)),
  )
  return (await commonPasswords).has(password.toLowerCase())
}
