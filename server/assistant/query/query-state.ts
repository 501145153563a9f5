import { type App, perApp } from '../../platform/context/app.ts'
import { grantViews, readRoleFacts, type RoleFacts, setupStatements } from './query-state.queries.ts'

/** Whether statements can run, and what the owner of the database does so that they can. */
type QueryState = {
  readonly available: boolean
  readonly reason: string | null
  readonly setup_sql: string[]
}

export type Readiness = QueryState & { readonly may_limit_files: boolean }

/** The last state that was good; a missing role may appear at any time. */
const known = perApp((): { ready: Readiness | null } => ({ ready: null }))

/** Reads the state, and grants what the role lacks and the service may give. */
export async function readReadiness(app: App): Promise<Readiness> {
  const memory = known(app)
  if (memory.ready !== null) return memory.ready
  let facts = await readRoleFacts(app.db)
  if (facts.has_role && (!facts.may_use || facts.unreadable > 0)) {
    await grantViews(app.db)
    facts = await readRoleFacts(app.db)
  }
  const state = stateOf(facts)
  if (state.available) memory.ready = state
  return state
}

/** For `GET /api/assistant`. */
export async function queryState(app: App): Promise<QueryState> {
  const { available, reason, setup_sql: setup } = await readReadiness(app)
  return { available, reason, setup_sql: setup }
}

/** Asks the database again before the next statement, because this one was not permitted. */
export const forgetReadiness = (app: App): void => void (known(app).ready = null)

const OFF = 'Statements run under a role of the database that may only read, and'

function stateOf(facts: RoleFacts): Readiness {
  const off = (reason: string, setup: string[]): Readiness => ({
    available: false,
    reason: `${OFF} ${reason}`,
    setup_sql: setup,
    may_limit_files: false,
  })
  if (!facts.has_role)
    return off(
      'the service may not create it. Run the statements once, as a user who may create roles.',
      setupStatements(facts.owner, false),
    )
  if (facts.is_strong)
    return off('the role nlq_ro may do more than that. Take its attributes away, and its memberships in other roles.', [
      'alter role nlq_ro nosuperuser nobypassrls nocreaterole noreplication;',
    ])
  if (!facts.may_set)
    return off(
      'the service may not take it on. Run the statement once, as a user who may grant roles.',
      setupStatements(facts.owner, true),
    )
  return { available: true, reason: null, setup_sql: [], may_limit_files: facts.may_limit_files }
}
