import {
  castNode,
  inside,
  integerNode,
  isStruct,
  readList,
  readName,
  operationNode,
  readText,
  type Struct,
} from './tree.ts'

/**
 * Conditions on the time of events say from which day of receipt on to read: an event occurred at most a minute after its
 * receipt (`events/protocol/time.ts`). Days before are not opened at all.
 */

const TIMES: ReadonlySet<string> = new Set(['time', 'received_at'])
const BELOW: ReadonlySet<string> = new Set(['<', '<=', '='])

/**
 * Finds the conditions that every row of a SELECT must meet.
 * @returns by the name of the relation, expressions of the first day to read
 */
export function receivedSince(select: Struct): ReadonlyMap<string, readonly unknown[]> {
  const found = new Map<string, unknown[]>()
  const relations = relationsOf(readList(select['fromClause']))
  const events = relations.filter(({ view }) => view === 'events')
  for (const condition of conjuncts(select['whereClause'])) {
    const bound = lowerBound(condition)
    if (bound === undefined) continue
    // A name without its relation is clear only when there is one.
    const name = bound.relation ?? (relations.length === 1 ? events[0]?.name : undefined)
    if (name === undefined || !events.some((one) => one.name === name)) continue
    // A day earlier covers every time zone, and the minute.
    const day = operationNode('-', castNode(structuredClone(bound.from), 'date'), integerNode(1))
    found.set(name, [...(found.get(name) ?? []), day])
  }
  return found
}

function conjuncts(where: unknown): unknown[] {
  const all = inside(where, 'BoolExpr')
  if (all === undefined || all['boolop'] !== 'AND_EXPR') return where === undefined ? [] : [where]
  return readList(all['args']).flatMap(conjuncts)
}

function relationsOf(items: readonly unknown[]): { readonly name: string; readonly view: string }[] {
  return items.flatMap((item) => {
    const join = inside(item, 'JoinExpr')
    // The alias of a join hides the names inside.
    if (join !== undefined) return join['alias'] === undefined ? relationsOf([join['larg'], join['rarg']]) : [UNKNOWN]
    const table = inside(item, 'RangeVar')
    if (table === undefined) return [UNKNOWN]
    const alias = isStruct(table['alias']) ? table['alias'] : {}
    // Columns with other names.
    if (readList(alias['colnames']).length > 0) return [UNKNOWN]
    const view = readText(table['relname'])
    return [{ name: readText(alias['aliasname']) || view, view }]
  })
}

const UNKNOWN = { name: '', view: '' } as const

type Bound = { readonly relation: string | undefined; readonly from: unknown }

/** `time >= x` and its other spellings, where `x` is the same for every row. */
function lowerBound(condition: unknown): Bound | undefined {
  const expression = inside(condition, 'A_Expr')
  if (expression === undefined) return undefined
  const operator = readName(readList(expression['name'])[0]) ?? ''
  const { lexpr, rexpr } = expression
  if (expression['kind'] === 'AEXPR_BETWEEN') {
    const [from] = readList(inside(rexpr, 'List')?.['items'])
    return boundOf(lexpr, from)
  }
  if (expression['kind'] !== 'AEXPR_OP' || readList(expression['name']).length !== 1) return undefined
  if (['>', '>=', '='].includes(operator)) return boundOf(lexpr, rexpr)
  return BELOW.has(operator) ? boundOf(rexpr, lexpr) : undefined
}

function boundOf(column: unknown, from: unknown): Bound | undefined {
  const fields = readList(inside(column, 'ColumnRef')?.['fields']).map(readName)
  const name = fields.at(-1)
  if (name === undefined || !TIMES.has(name) || fields.length > 2 || !isSameForAllRows(from)) return undefined
  return { relation: fields.length === 2 ? fields[0] : undefined, from }
}

/** Constants, the current time, and arithmetic of them. */
function isSameForAllRows(node: unknown): boolean {
  if (!isStruct(node)) return false
  if (inside(node, 'A_Const') !== undefined || inside(node, 'SQLValueFunction') !== undefined) return true
  const cast = inside(node, 'TypeCast')
  if (cast !== undefined) return isSameForAllRows(cast['arg'])
  const expression = inside(node, 'A_Expr')
  if (expression !== undefined)
    return (
      expression['kind'] === 'AEXPR_OP' &&
      isSameForAllRows(expression['lexpr']) &&
      isSameForAllRows(expression['rexpr'])
    )
  const call = inside(node, 'FuncCall')
  if (call === undefined || call['over'] !== undefined || call['agg_filter'] !== undefined) return false
  const called = readName(readList(call['funcname']).at(-1)) ?? ''
  return ['now', 'date_trunc', 'timezone'].includes(called) && readList(call['args']).every(isSameForAllRows)
}
