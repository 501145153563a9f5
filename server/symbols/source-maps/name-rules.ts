import { ANONYMOUS } from './function-ranges.ts'

/** How functions are named, whichever parser found them. */
const MAX_NAME = 500

/** Functions of React that return the function they receive, or a component of it. */
const WRAPPERS: ReadonlySet<string> = new Set([
  'useCallback',
  'memo',
  'forwardRef',
  'lazy',
  'useEffectEvent',
  'observer',
])

/** @returns whether a call of this function passes the name of its value on to the functions that it receives */
export const isWrapper = (callee: string): boolean => WRAPPERS.has(callee)

/** V8 copies shorter pieces of a text. */
const MAX_COPIED = 12

/** @returns the name of a function; a copy, because a piece of a source would keep the whole source in memory */
export function nameOfFunction(name: string | null): string {
  if (name === null) return ANONYMOUS
  return name.length <= MAX_COPIED ? name : Buffer.from(name.slice(0, MAX_NAME)).toString()
}

/** @returns the name of a member; null for a key that is computed */
export function memberName(className: string | null, key: string | null): string | null {
  return className === null || key === null ? key : `${className}.${key}`
}

/** @returns the name of a constructor */
export const constructorName = (className: string | null): string => `new ${className ?? ANONYMOUS}`

/** @returns the name of a block that runs when the class is defined */
export const staticBlockName = (className: string | null): string | null => memberName(className, '<static>')

/**
 * `Cart.prototype.pay` is `Cart.pay`, `exports.pay` and `this.pay` are `pay`.
 * @param owner the variable that the property belongs to, without `prototype`
 */
export const targetName = (owner: string | null, property: string): string =>
  owner === null || owner === 'exports' || owner === 'module' ? property : `${owner}.${property}`
