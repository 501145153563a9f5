import { RefusedStatement } from './refused-statement.ts'

/** Reading and building nodes of a parsed statement: plain JSON, whose shape the guard checks itself. */

export type Struct = { [field: string]: unknown }

export const isStruct = (value: unknown): value is Struct =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const readStruct = (value: unknown): Struct => {
  if (isStruct(value)) return value
  throw new RefusedStatement('node', 'A part of it is not understood.')
}

/** The type of a node and its structure. */
export function readNode(value: unknown): readonly [type: string, struct: Struct] {
  const entries = Object.entries(readStruct(value))
  const [entry] = entries
  if (entry === undefined || entries.length !== 1) throw new RefusedStatement('node', 'A part of it is not understood.')
  return [entry[0], readStruct(entry[1])]
}

export const readList = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

export const readText = (value: unknown): string => (typeof value === 'string' ? value : '')

/** The structure of a node of this type; undefined for other nodes. */
export function inside(value: unknown, type: string): Struct | undefined {
  const struct = isStruct(value) ? value[type] : undefined
  return isStruct(struct) ? struct : undefined
}

/** The text of a `String` node; undefined for other nodes. */
export function readName(value: unknown): string | undefined {
  const struct = inside(value, 'String')
  return struct === undefined ? undefined : readText(struct['sval'])
}

/** The texts of a list of `String` nodes. @throws RefusedStatement for other nodes in it */
export const readNames = (value: unknown): string[] =>
  readList(value).map((one) => {
    const name = readName(one)
    if (name === undefined) throw new RefusedStatement('name', 'A name in it is not understood.')
    return name
  })

const stringNode = (sval: string): Struct => ({ String: { sval } })
export const columnNode = (...path: readonly string[]): Struct => ({ ColumnRef: { fields: path.map(stringNode) } })
export const textNode = (sval: string): Struct => ({ A_Const: { sval: { sval } } })
export const integerNode = (ival: number): Struct => ({ A_Const: { ival: { ival } } })
export const castNode = (arg: unknown, type: string): Struct => ({
  TypeCast: { arg, typeName: { names: [stringNode(type)], typemod: -1 } },
})
export const operationNode = (operator: string, lexpr: unknown, rexpr: unknown): Struct => ({
  A_Expr: { kind: 'AEXPR_OP', name: [stringNode(operator)], lexpr, rexpr },
})
export const callNode = (name: string, args: readonly unknown[]): Struct => ({
  FuncCall: { funcname: [stringNode(name)], args: [...args], funcformat: 'COERCE_EXPLICIT_CALL' },
})

/** Whether two trees mean the same: places in the text and the order of fields do not matter. */
export function sameTree(a: unknown, b: unknown, places: ReadonlySet<string>): boolean {
  if (Array.isArray(a) || Array.isArray(b))
    return (
      Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((one, i) => sameTree(one, b[i], places))
    )
  if (!isStruct(a) || !isStruct(b)) return a === b
  const keys = Object.keys(a).filter((key) => !places.has(key))
  return (
    keys.length === Object.keys(b).filter((key) => !places.has(key)).length &&
    keys.every((key) => key in b && sameTree(a[key], b[key], places))
  )
}
