import { errorText } from '../../platform/kernel/errors.ts'

/** One line of the check of an installation. No line holds a secret. */
export type Finding = {
  /** `note`: works, and could be better. `problem`: something is lost, late or unsafe. */
  readonly level: 'ok' | 'note' | 'problem'
  /** Which part was checked. */
  readonly part: string
  /** One or two sentences: the state, and what to do. */
  readonly text: string
}

export const ok = (part: string, text: string): Finding => ({ level: 'ok', part, text })
export const note = (part: string, text: string): Finding => ({ level: 'note', part, text })
export const problem = (part: string, text: string): Finding => ({ level: 'problem', part, text })

/** The message of an error, on one line. */
export const reasonText = (error: unknown): string => errorText(error).replaceAll(/\s+/g, ' ')
