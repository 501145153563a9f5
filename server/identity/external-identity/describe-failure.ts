import { EgressError } from '../../platform/context/egress.ts'
import { ProviderError } from './provider-fetch.ts'

const MAX_CHARACTERS = 300

/** The failure of a provider in words, for its owners and the log. Never the text of an answer: it may hold a token. */
export function describeFailure(error: unknown): string {
  for (const cause of causesOf(error)) {
    if (cause instanceof ProviderError) return cause.message.slice(0, MAX_CHARACTERS)
    if (cause instanceof EgressError) return `The provider cannot be reached: ${cause.code}.`
  }
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null
  const given = error instanceof Error && 'error' in error && typeof error.error === 'string' ? error.error : ''
  // An error code of the protocol, such as invalid_grant; anything else may be text for our readers.
  const detail = /^[a-z_]{1,40}$/.test(given) ? ` ${given}` : ''
  if (code === null) return 'The provider answered in a way that Faultline does not understand.'
  const sentence = SENTENCES[code] ?? 'The answer of the provider is wrong'
  return `${sentence} (${code}${detail}).`.slice(0, MAX_CHARACTERS)
}

/** By the codes of the libraries. */
const SENTENCES: Readonly<Record<string, string>> = {
  OAUTH_RESPONSE_BODY_ERROR: 'The provider refused to exchange the code',
  OAUTH_WWW_AUTHENTICATE_CHALLENGE: 'The provider refused the client id or secret',
  OAUTH_RESPONSE_IS_NOT_CONFORM: 'The provider answered with an unexpected status',
  OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED: 'The issuer in the discovery document is not the one that was entered',
  OAUTH_JWT_CLAIM_COMPARISON_FAILED: 'A claim of the ID token is wrong',
  OAUTH_JWT_TIMESTAMP_CHECK_FAILED: 'The ID token has expired or is not valid yet',
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'The signature of the ID token is wrong',
  ERR_JWKS_NO_MATCHING_KEY: 'The ID token is signed with a key that the provider does not publish',
  ERR_JOSE_ALG_NOT_ALLOWED: 'The ID token is signed with an algorithm that is not allowed',
}

function* causesOf(error: unknown): Generator<unknown> {
  let cause = error
  for (let depth = 0; depth < 5 && cause instanceof Error; depth += 1) {
    yield cause
    cause = cause.cause
  }
}
