/** Headers that a subscriber adds to every request of an endpoint. */

export const MAX_HEADERS = 10
const MAX_NAME_CHARACTERS = 64
const MAX_VALUE_CHARACTERS = 1_024

/** The mask that reads show in place of a value. */
export const MASK = '••••••••'

export type OwnHeader = { readonly name: string; readonly value: string }

/**
 * Headers that we send ourselves, that belong to the connection, or that would change what the receiver answers. With
 * `-` for `_`: receivers behind CGI cannot tell them apart.
 */
const DENIED =
  /^(host|content-.*|connection|keep-alive|transfer-encoding|upgrade|te|trailer|expect|cookie|user-agent|accept-encoding|svc-.*|webhook-.*|proxy-.*)$/

/** A token of RFC 9110. */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** The problem of the headers, as a sentence; null when there is none. */
export function headersProblem(
  headers: readonly { readonly name: string; readonly value?: string | undefined }[],
): string | null {
  if (headers.length > MAX_HEADERS) return `headers must name at most ${MAX_HEADERS} headers.`
  const names = new Set<string>()
  for (const { name, value } of headers) {
    const folded = name.toLowerCase()
    if (name === '') return 'headers must not have an empty name.'
    if (name.length > MAX_NAME_CHARACTERS)
      return `headers must have names of at most ${MAX_NAME_CHARACTERS} characters.`
    if (!NAME.test(name)) return "headers must have names of letters, digits and !#$%&'*+-.^_`|~ only."
    if (DENIED.test(folded.replaceAll('_', '-')))
      return `headers must not set ${name}, which Faultline or the connection sets.`
    if (names.has(folded)) return `headers names ${name} twice.`
    names.add(folded)
    const problem = value === undefined ? null : valueProblem(name, value)
    if (problem !== null) return problem
  }
  return null
}

function valueProblem(name: string, value: string): string | null {
  const must = `headers must give ${name} a value`
  if (value.length > MAX_VALUE_CHARACTERS) return `${must} of at most 1,024 characters.`
  if (value === MASK)
    return `headers must not give ${name} the mask that reads show. Leave value out to keep the stored one.`
  if (/[\r\n\0]/.test(value)) return `${must} without line breaks and NUL.`
  if (/[^\t\x20-\x7E]/.test(value)) return `${must} of ASCII characters only.`
  if (value.trim() !== value) return `${must} that does not begin or end with spaces.`
  return null
}
