import type { FunctionRange } from './function-ranges.ts'
import { constructorName, nameOfFunction, isWrapper, memberName, staticBlockName, targetName } from './name-rules.ts'

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

type SyntaxNode = {
  readonly type: string
  readonly start?: unknown
  readonly end?: unknown
  readonly [field: string]: unknown
}

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

const isNode = (value: unknown): value is SyntaxNode =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'

function addRange({ node, name }: Visit, ranges: FunctionRange[]): void {
  const { start, end } = node
  if (typeof start !== 'number' || typeof end !== 'number') return
  ranges.push({ start, end, name: nameOfFunction(nameOf(node['id']) ?? name) })
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
          waiting.push({ node: element, name: given ?? nameOfElement(element, ownClass), className: ownClass })
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
      return { field: 'arguments', name: name !== null && isWrapperCallee(node['callee']) ? name : null }
    default:
      return TRANSPARENT.has(node.type) ? { field: 'expression', name } : null
  }
}

/** The name of an element of a list: a member of a class or an object. */
function nameOfElement(element: SyntaxNode, className: string | null): string | null {
  if (element.type === 'ObjectMethod') return nameOf(element['key'], element['computed'] === true)
  if (element.type === 'StaticBlock') return staticBlockName(className)
  if (!element.type.startsWith('Class') || element.type === 'ClassDeclaration' || element.type === 'ClassExpression') {
    return null
  }
  if (element['kind'] === 'constructor') return constructorName(className)
  return memberName(className, nameOf(element['key'], element['computed'] === true))
}

const isWrapperCallee = (callee: unknown): boolean => isWrapper((nameOf(callee) ?? '').replace(/^.*\./, ''))

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

function nameOfTarget(node: SyntaxNode): string | null {
  const property = nameOf(node['property'], node['computed'] === true)
  if (property === null) return null
  let object = node['object']
  if (isNode(object) && object.type === 'MemberExpression' && nameOf(object['property']) === 'prototype') {
    object = object['object']
  }
  return targetName(isNode(object) && object.type === 'Identifier' ? textOf(object['name']) : null, property)
}
