import { z } from 'zod'

/** A node of a plan, as far as it says how many rows are read. */
type PlanNode = {
  readonly 'Node Type': string
  readonly 'Plan Rows': number
  readonly 'Startup Cost': number
  readonly 'Total Cost': number
  readonly 'Relation Name'?: string | undefined
  readonly Filter?: string | undefined
  readonly 'Parent Relationship'?: string | undefined
  readonly 'Subplan Name'?: string | undefined
  readonly Plans?: readonly PlanNode[] | undefined
}

const Node: z.ZodType<PlanNode> = z.lazy(() =>
  z.object({
    'Node Type': z.string(),
    'Plan Rows': z.number(),
    'Startup Cost': z.number(),
    'Total Cost': z.number(),
    'Relation Name': z.string().optional(),
    Filter: z.string().optional(),
    'Parent Relationship': z.string().optional(),
    'Subplan Name': z.string().optional(),
    Plans: z.array(Node).optional(),
  }),
)
const Explained = z.tuple([z.object({ Plan: Node })])

/** Parses the answer of `explain (format json)`. */
export const parsePlan = (answer: unknown): PlanNode => Explained.parse(answer)[0].Plan

/** Tables that are read from begin to end with a condition: the plan has the rows that meet it, not those that are read. */
export function filteredTables(node: PlanNode): string[] {
  const own = node['Node Type'] === 'Seq Scan' && node.Filter !== undefined ? node['Relation Name'] : undefined
  return [...(own === undefined ? [] : [own]), ...(node.Plans ?? []).flatMap(filteredTables)]
}

/** Cost of a row that an index finds and a condition drops: a page at random, in the least units of servers. */
const LOOK_UP_COST = 4

/**
 * Estimates how many rows of tables a plan reads, repetitions included.
 * @param sizes rows of {@link filteredTables}
 */
export function estimateRows(node: PlanNode, sizes: ReadonlyMap<string, number>, times = 1): number {
  const type = node['Node Type']
  const rows = Math.max(1, node['Plan Rows'])
  const plans = node.Plans ?? []
  if (type === 'Seq Scan') return Math.max(rows, sizes.get(node['Relation Name'] ?? '') ?? 0) * times
  if (type === 'Index Scan' || type === 'Index Only Scan') {
    const found = node.Filter === undefined ? rows : Math.max(rows, node['Total Cost'] / LOOK_UP_COST)
    return found * times
  }
  if (type === 'Bitmap Index Scan') return rows * times
  // These rows are made once and read every time.
  if (type === 'Materialize' || type === 'CTE Scan')
    return rows * times + plans.reduce((sum, plan) => sum + estimateRows(plan, sizes), 0)
  if (type === 'Limit' && plans[0] !== undefined) return estimateRows(plans[0], sizes, times) * share(node, plans[0])
  return plans.reduce((sum, plan, i) => sum + estimateRows(plan, sizes, times * repetitions(node, plan, i)), 0)
}

/** How often a part of a plan runs for one run of the whole. */
function repetitions(node: PlanNode, plan: PlanNode, index: number): number {
  const name = plan['Subplan Name'] ?? ''
  if (plan['Parent Relationship'] === 'SubPlan')
    return name !== '' && (node.Filter ?? '').includes(`hashed ${name}`) ? 1 : Math.max(1, node['Plan Rows'])
  const isInner = node['Node Type'] === 'Nested Loop' && plan['Parent Relationship'] === 'Inner' && index > 0
  return isInner ? Math.max(1, node.Plans?.[0]?.['Plan Rows'] ?? 1) : 1
}

/** The part of its input that LIMIT reads; all of it, where that is sorted or counted first. */
function share(limit: PlanNode, input: PlanNode): number {
  const whole = input['Total Cost']
  return whole > 0 ? Math.min(1, limit['Total Cost'] / whole) : 1
}
