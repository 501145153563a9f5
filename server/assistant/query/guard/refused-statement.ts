/** Names of the rules of the guard, for the log and the audit log. */
export type Rule =
  | 'text'
  | 'syntax'
  | 'statements'
  | 'not_select'
  | 'node'
  | 'field'
  | 'function'
  | 'operator'
  | 'type'
  | 'view'
  | 'column'
  | 'name'
  | 'size'
  | 'printed'
  | 'thread'
  | 'database'
  | 'too_broad'

/** A statement that does not run. The message is a sentence for its author and holds no text of the database. */
export class RefusedStatement extends Error {
  readonly rule: Rule

  constructor(rule: Rule, message: string) {
    super(message)
    this.name = 'RefusedStatement'
    this.rule = rule
  }
}

export const DATA_CHANGE = 'This would change data. Only reading is possible.'
