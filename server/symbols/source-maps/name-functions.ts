import { ANONYMOUS, type FunctionRange } from './function-ranges.ts'

/**
 * Finds the functions of a syntax tree (ESTree as Babel extends it) and names them as their authors know them: by their
 * own name, or by the variable, property or attribute that holds them; `Cart.pay` for members of a class.
 *
 * The tree is walked with a list instead of recursion: generated code nests deeper than the stack allows.
 */
export function nameFunctions(program: unknown): FunctionRange[] {
  const ranges: FunctionRange[] = []
  const waiting: Visit[] = []
  if (isNode(program)) waiting.push({ node: program, name: null, className: null })
  for (let visit = waiting.pop(); visit !== undefined; visit = waiting.pop()) {
    if (FUNCTIONS.has(visit.node.type)) addRange(visit, ranges)
    addChildren(visit, waiting)
  }
  return ranges
}

type SyntaxNode = { readonly type: string; readonly [field: string]: unknown }

type Visit = {
  readonly node: SyntaxNode
  /** The name of what holds the value of this node. */
  readonly name: string | null
  /** The class whose body this is. */
  readonly className: string | null
}

const FUNCTIONS: ReadonlySet<string> = new Set([
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
  'ObjectMethod',
  'ClassMethod',
  'ClassPrivateMethod',
  'StaticBlock',
])

/** Nodes that contain no others, or only such. Most nodes are of these types. */
const LEAVES: ReadonlySet<string> = new Set([
  'Identifier',
  'StringLiteral',
  'NumericLiteral',
  'BooleanLiteral',
  'NullLiteral',
  'RegExpLiteral',
  'TemplateElement',
  'ThisExpression',
  'ImportDeclaration',
  'JSXText',
  'TSInterfaceDeclaration',
  'TSTypeAliasDeclaration',
])

/** Fields that hold positions, comments and types. */
const WITHOUT_FUNCTIONS: ReadonlySet<string> = new Set([
  'loc',
  'extra',
  'errors',
  'comments',
  'directives',
  'typeAnnotation',
  'typeParameters',
  'typeArguments',
  'returnType',
])

/** Expressions that are their inner value: types are erased, and a conditional chooses. */
const TRANSPARENT: ReadonlySet<string> = new Set([
  'TSAsExpression',
  'TSSatisfiesExpression',
  'TSNonNullExpression',
  'TSTypeAssertion',
  'TypeCastExpression',
  'ParenthesizedExpression',
])

/** Functions of React that return the function they receive, or a component of it. */
const WRAPPERS: ReadonlySet<string> = new Set([
  'useCallback',
  'memo',
  'forwardRef',
  'lazy',
  'useEffectEvent',
  'observer',
])

const MAX_NAME = 500

const isNode = (value: unknown): value is SyntaxNode =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'

function addRange({ node, name }: Visit, ranges: FunctionRange[]): void {
  const start = readPlace(node, 'start')
  const end = readPlace(node, 'end')
  if (start === null || end === null) return
  ranges.push({ start, end, name: (nameOf(node['id']) ?? name ?? ANONYMOUS).slice(0, MAX_NAME) })
}

/** Babel counts lines from 1, source maps from 0. */
function readPlace(node: SyntaxNode, side: 'start' | 'end'): { line: number; column: number } | null {
  const loc = node['loc']
  if (typeof loc !== 'object' || loc === null || !(side in loc)) return null
  const place: unknown = Reflect.get(loc, side)
  if (typeof place !== 'object' || place === null || !('line' in place) || !('column' in place)) return null
  const { line, column } = place
  return typeof line === 'number' && typeof column === 'number' ? { line: line - 1, column } : null
}

/** Adds the children of a node to those that wait, each with the name that the node gives it. */
function addChildren({ node, name, className }: Visit, waiting: Visit[]): void {
  const names = namesOf(node, name)
  const ownClass = classNameOf(node, name, className)
  for (const field in node) {
    const value = node[field]
    if (typeof value !== 'object' || value === null || WITHOUT_FUNCTIONS.has(field)) continue
    const given = names?.field === field ? names.name : null
    if (Array.isArray(value)) {
      for (const element of value) {
        if (isNode(element) && !LEAVES.has(element.type)) {
          waiting.push({ node: element, name: given ?? memberName(element, ownClass), className: ownClass })
        }
      }
    } else if (isNode(value) && !LEAVES.has(value.type)) {
      waiting.push({ node: value, name: given, className: ownClass })
    }
  }
}

/** A body of a class passes the name to its members, and a member passes nothing on. */
function classNameOf(node: SyntaxNode, name: string | null, className: string | null): string | null {
  if (node.type === 'ClassDeclaration' || node.type === 'ClassExpression') return nameOf(node['id']) ?? name
  return node.type === 'ClassBody' ? className : null
}

type GivenName = { readonly field: string; readonly name: string | null }

/** The field of a node whose value has a name because of this node. */
function namesOf(node: SyntaxNode, name: string | null): GivenName | null {
  switch (node.type) {
    case 'VariableDeclarator':
      return { field: 'init', name: nameOf(node['id']) }
    case 'AssignmentExpression':
    case 'AssignmentPattern':
      return { field: 'right', name: nameOf(node['left']) }
    case 'ObjectProperty':
      return { field: 'value', name: nameOf(node['key'], node['computed'] === true) }
    case 'ClassProperty':
    case 'ClassPrivateProperty':
    case 'ClassAccessorProperty':
      return { field: 'value', name }
    case 'JSXAttribute':
      return { field: 'value', name: nameOf(node['name']) }
    case 'JSXExpressionContainer':
      return { field: 'expression', name }
    case 'ExportDefaultDeclaration':
      return { field: 'declaration', name: 'default' }
    case 'CallExpression':
      return { field: 'arguments', name: name !== null && isWrapper(node['callee']) ? name : null }
    default:
      return TRANSPARENT.has(node.type) ? { field: 'expression', name } : null
  }
}

/** The name of an element of a list: a member of a class or an object. */
function memberName(element: SyntaxNode, className: string | null): string | null {
  if (element.type === 'ObjectMethod') return nameOf(element['key'], element['computed'] === true)
  if (element.type === 'StaticBlock') return className === null ? null : `${className}.<static>`
  if (!element.type.startsWith('Class') || element.type === 'ClassDeclaration' || element.type === 'ClassExpression') {
    return null
  }
  if (element['kind'] === 'constructor') return `new ${className ?? ANONYMOUS}`
  const key = nameOf(element['key'], element['computed'] === true)
  if (key === null) return null
  return className === null ? key : `${className}.${key}`
}

const isWrapper = (callee: unknown): boolean => WRAPPERS.has((nameOf(callee) ?? '').replace(/^.*\./, ''))

/** The name that a key, an identifier or a target of an assignment says. */
function nameOf(node: unknown, isComputed = false): string | null {
  if (!isNode(node)) return null
  switch (node.type) {
    case 'Identifier':
      return isComputed ? null : textOf(node['name'])
    case 'JSXIdentifier':
      return textOf(node['name'])
    case 'StringLiteral':
    case 'NumericLiteral':
      return textOf(node['value'])
    case 'PrivateName': {
      const inner = nameOf(node['id'])
      return inner === null ? null : `#${inner}`
    }
    case 'MemberExpression':
      return isComputed ? null : nameOfTarget(node)
    default:
      return null
  }
}

const textOf = (value: unknown): string | null => {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  return text === '' ? null : text
}

/** `Cart.prototype.pay` is `Cart.pay`, `exports.pay` and `this.pay` are `pay`. */
function nameOfTarget(node: SyntaxNode): string | null {
  const property = nameOf(node['property'], node['computed'] === true)
  if (property === null) return null
  let object = node['object']
  if (isNode(object) && object.type === 'MemberExpression' && nameOf(object['property']) === 'prototype') {
    object = object['object']
  }
  const owner = isNode(object) && object.type === 'Identifier' ? textOf(object['name']) : null
  return owner === null || owner === 'exports' || owner === 'module' ? property : `${owner}.${property}`
}
