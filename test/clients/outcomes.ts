import type { App } from '../../server/platform/context/app.ts'

export type OutcomeSum = {
  readonly category: string
  readonly outcome: string
  readonly reason: string
  readonly quantity: number
}

/** Outcomes of everything a project was sent so far. */
export async function outcomesOf(app: App, projectNumber: number): Promise<OutcomeSum[]> {
  const { rows } = await app.db.query<OutcomeSum>(
    `select o.category, o.outcome, o.reason, sum(o.quantity)::int as quantity
     from outcomes_hourly o join projects p on p.id = o.project_id where p.number = $1
     group by 1, 2, 3 order by 1, 2, 3`,
    [projectNumber],
  )
  return rows
}

/** Outcomes that a correct SDK never causes. */
export const complaints = (outcomes: readonly OutcomeSum[]): OutcomeSum[] =>
  outcomes.filter(({ outcome }) => outcome === 'invalid' || outcome === 'dropped' || outcome === 'rate_limited')
