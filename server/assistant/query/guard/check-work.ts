import { REPLACING } from './allowed-names.ts'
import { RefusedStatement } from './refused-statement.ts'
import { inside, isStruct, readList, readNames, readStruct, readText, type Struct } from './tree.ts'

/**
 * Bounds of work that no time limit of the database ends: arithmetic with very long numbers, and joins of very many texts,
 * are not interrupted within a row. Pure.
 */

/** A text of 8 KiB makes numbers of as many digits, of which each operation takes up to 0.1 s. */
const MAX_ARITHMETIC = 50
/** A chain of these copies its beginning once for each. */
const MAX_JOINS_OF_TEXTS = 64
const MAX_TEXTS = 32
/** Each holds up to 2 MB until its row is done. */
const MAX_REPLACEMENTS = 16
const MAX_NUMBER_CHARACTERS = 40
const MAX_EXPONENT = 40
/** How many values of a view one value may be the product of: its digits grow with them. */
const MAX_FACTORS = 4

const ARITHMETIC_OPERATORS: ReadonlySet<string> = new Set(['*', '/', '%', '^'])
const ARITHMETIC_FUNCTIONS: ReadonlySet<string> = new Set(['mod', 'div', 'gcd', 'lcm', 'power', 'exp'])
/** Functions whose result has the digits of a product. */
const MULTIPLYING = /^(?:lcm|variance|var_pop|var_samp|stddev|stddev_pop|stddev_samp)$/

const tooMuch = (what: string): RefusedStatement => new RefusedStatement('size', `It ${what}.`)

/** @throws RefusedStatement */
export function checkWork(select: Struct): void {
  const seen: Seen = { arithmetic: 0, joins: 0, replacements: 0 }
  count(select, seen)
  if (seen.arithmetic > MAX_ARITHMETIC)
    throw tooMuch(`multiplies, divides or raises to a power more than ${MAX_ARITHMETIC} times`)
  if (seen.joins > MAX_JOINS_OF_TEXTS) throw tooMuch(`joins texts by || more than ${MAX_JOINS_OF_TEXTS} times`)
  if (seen.replacements > MAX_REPLACEMENTS) throw tooMuch(`replaces parts of texts more than ${MAX_REPLACEMENTS} times`)
  factorsOfSelect(select, 1, 1)
}

type Seen = { arithmetic: number; joins: number; replacements: number }

function count(value: unknown, seen: Seen): void {
  if (Array.isArray(value)) for (const one of value) count(one, seen)
  if (!isStruct(value)) return
  const operator = operatorOf(value)
  if (operator === '||') seen.joins++
  else if (ARITHMETIC_OPERATORS.has(operator)) seen.arithmetic++
  const called = functionOf(value)
  if (ARITHMETIC_FUNCTIONS.has(called)) seen.arithmetic++
  if (REPLACING.has(called)) seen.replacements++
  if (called.startsWith('concat') && readList(inside(value, 'FuncCall')?.['args']).length > MAX_TEXTS)
    throw tooMuch(`joins more than ${MAX_TEXTS} texts at once`)
  checkNumber(value)
  for (const one of Object.values(value)) count(one, seen)
}

function checkNumber(value: Struct): void {
  const constant = inside(value, 'A_Const')?.['fval']
  if (constant === undefined) return
  const text = readText(readStruct(constant)['fval'])
  const exponent = Math.abs(Number(/e([+-]?\d+)$/i.exec(text)?.[1] ?? 0))
  if (text.length > MAX_NUMBER_CHARACTERS || exponent > MAX_EXPONENT) throw tooMuch('holds a number that is too long')
}

const operatorOf = (value: Struct): string => {
  const expression = inside(value, 'A_Expr')
  return expression?.['kind'] === 'AEXPR_OP' ? (readNames(expression['name']).at(-1) ?? '') : ''
}

const functionOf = (value: Struct): string => {
  const call = inside(value, 'FuncCall')
  return call === undefined ? '' : (readNames(call['funcname']).at(-1) ?? '')
}

/** @param known factors of the columns of WITH, and of the statements around */
function factorsOfSelect(select: Struct, outer: number, known: number): number {
  let own = known
  for (const one of readList(readStruct(select['withClause'] ?? {})['ctes'])) {
    const query = inside(inside(one, 'CommonTableExpr')?.['ctequery'], 'SelectStmt')
    if (query !== undefined) own = Math.max(own, factorsOfSelect(query, outer, own))
  }
  if (select['op'] !== 'SETOP_NONE')
    return Math.max(
      factorsOfSelect(readStruct(select['larg']), outer, own),
      factorsOfSelect(readStruct(select['rarg']), outer, own),
    )
  const column = Math.max(1, outer, own, factorsIn(select['fromClause'], Math.max(outer, own), own))
  const { fromClause: _from, withClause: _with, ...others } = select
  return factorsIn(Object.values(others), column, own)
}

/** @param column factors of a column that is named here */
function factorsIn(value: unknown, column: number, known: number): number {
  const most = (values: readonly unknown[]): number =>
    values.reduce<number>((max, one) => Math.max(max, factorsIn(one, column, known)), 0)
  if (Array.isArray(value)) return most(value)
  if (!isStruct(value) || 'A_Const' in value) return 0
  if ('ColumnRef' in value) return column
  const select = inside(value, 'SelectStmt')
  if (select !== undefined) return factorsOfSelect(select, column, known)
  if (operatorOf(value) === '*') {
    const { lexpr, rexpr } = readStruct(value['A_Expr'])
    return checked(factorsIn(lexpr, column, known) + factorsIn(rexpr, column, known))
  }
  const found = most(Object.values(value))
  return MULTIPLYING.test(functionOf(value)) ? checked(2 * found) : found
}

function checked(factors: number): number {
  if (factors > MAX_FACTORS) throw tooMuch(`multiplies more than ${MAX_FACTORS} values with each other`)
  return factors
}
