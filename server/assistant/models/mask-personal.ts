import { textPattern } from '../../events/protocol/scrub-patterns.ts'

const PATTERNS = (['email', 'ip_address'] as const).map((pattern) => textPattern({ pattern, regex: null }, ''))

/**
 * The text without e-mail and IP addresses. Stored values are scrubbed by the rules of their project; a model needs
 * neither of them, whatever those rules keep.
 */
export const maskPersonal = (text: string): string =>
  PATTERNS.reduce(
    (masked, pattern) =>
      pattern?.replace(
        masked,
        () => pattern.word,
        () => {},
      ) ?? masked,
    text,
  )
