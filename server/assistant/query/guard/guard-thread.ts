import { parentPort } from 'node:worker_threads'
import { errorText } from '../../../platform/kernel/errors.ts'
import { isSyntaxError, loadGrammar, readStatement, type GuardedStatement } from './read-statement.ts'
import { RefusedStatement, type Rule } from './refused-statement.ts'

/** Body of the thread that parses and checks statements. */

export type GuardRequest = { readonly text: string; readonly projectId: string }

export type GuardReply =
  | { readonly kind: 'ready' }
  | { readonly kind: 'guarded'; readonly statement: GuardedStatement }
  | { readonly kind: 'refused'; readonly rule: Rule; readonly message: string }
  /** The parser failed in another way than by an error in the text: this thread must not be used again. */
  | { readonly kind: 'broken'; readonly message: string }

const grammar = await loadGrammar()

const answer = ({ text, projectId }: GuardRequest): GuardReply => {
  try {
    return { kind: 'guarded', statement: readStatement(grammar, text, projectId) }
  } catch (error) {
    if (error instanceof RefusedStatement) return { kind: 'refused', rule: error.rule, message: error.message }
    if (isSyntaxError(error)) {
      const { cursorPosition } = error.sqlDetails
      const near = text.slice(Math.max(0, cursorPosition), cursorPosition + 30).split('\n', 1)[0] ?? ''
      const where = near.trim() === '' ? 'at its end' : `at “${near.trim()}”`
      return { kind: 'refused', rule: 'syntax', message: `PostgreSQL does not understand it ${where}.` }
    }
    return { kind: 'broken', message: errorText(error) }
  }
}

parentPort?.on('message', (request: GuardRequest) => parentPort?.postMessage(answer(request)))
parentPort?.postMessage({ kind: 'ready' } satisfies GuardReply)
