/**
 * The lines of a mapping file, as the ProGuard manual ("ReTrace", section on the format of mappings) and the page
 * "R8, Retrace and map file versioning" (in the source tree of R8) describe them. Every function takes one line without
 * blanks at its ends and returns null for a line of another kind: unknown lines are skipped, never refused.
 */
import { z } from 'zod'
import { readJsonText } from '../../platform/kernel/json.api.ts'

/** `original.Name -> obfuscated.Name:` */
export type ClassLine = { readonly original: string; readonly obfuscated: string }

/** Lines of code, both ends included. */
type LineRange = { readonly from: number; readonly to: number }

/** `[1:3:]type [class.]name(arguments)[:10[:12]] -> obfuscated`, or `type name -> obfuscated` for a field. */
export type MemberLine = {
  readonly isField: boolean
  readonly obfuscated: string
  /** The class that the code came from, where it was inlined or moved; null is the class above the line. */
  readonly className: string | null
  readonly name: string
  /** The types, the class, the name and the arguments, as the line has them. */
  readonly signature: string
  readonly minified: LineRange | null
  readonly original: LineRange | null
}

const ARROW = ' -> '
const MAX_LINE = 2 ** 31 - 1
const MAX_REWRITES = 32

/** @returns the names of a line that begins a class */
export function parseClassLine(line: string): ClassLine | null {
  const arrow = line.indexOf(ARROW)
  if (arrow <= 0 || !line.endsWith(':')) return null
  const original = line.slice(0, arrow)
  const obfuscated = line.slice(arrow + ARROW.length, -1)
  return isClassName(original) && isClassName(obfuscated) ? { original, obfuscated } : null
}

function isClassName(name: string): boolean {
  return name !== '' && !/[\s:()#<>"'{};,=]/u.test(name)
}

/** @returns the parts of a line that names a method, or a part of one, or a field */
export function parseMemberLine(line: string): MemberLine | null {
  const arrow = line.lastIndexOf(ARROW)
  if (arrow <= 0 || line.startsWith('#')) return null
  const obfuscated = line.slice(arrow + ARROW.length)
  if (obfuscated === '' || obfuscated.endsWith(':')) return null
  const left = line.slice(0, arrow)

  const open = left.indexOf('(')
  if (open < 0) {
    const space = left.indexOf(' ')
    if (space <= 0) return null
    const field = splitName(left.slice(space + 1))
    return { isField: true, obfuscated, ...field, signature: left, minified: null, original: null }
  }
  const close = left.indexOf(')', open)
  if (close < 0) return null
  const before = left.slice(0, open)
  const colon = before.lastIndexOf(':')
  const minified = colon < 0 ? null : parseRange(before.slice(0, colon))
  const space = before.indexOf(' ', colon + 1)
  const after = left.slice(close + 1)
  const original = after === '' ? null : parseRange(after.slice(1))
  const hasBadNumbers = (colon >= 0 && !minified) || (after !== '' && (after[0] !== ':' || !original))
  if (hasBadNumbers || space < 0) return null
  const named = splitName(before.slice(space + 1))
  const signature = left.slice(colon + 1, close + 1)
  return named.name === '' ? null : { isField: false, obfuscated, ...named, signature, minified, original }
}

function splitName(qualified: string): { className: string | null; name: string } {
  const dot = qualified.lastIndexOf('.')
  return dot <= 0
    ? { className: null, name: qualified }
    : { className: qualified.slice(0, dot), name: qualified.slice(dot + 1) }
}

/** `3` or `3:7`; R8 writes some original ranges in descending order. */
function parseRange(text: string): LineRange | null {
  const colon = text.indexOf(':')
  const from = parseLineNumber(colon < 0 ? text : text.slice(0, colon))
  const to = colon < 0 ? from : parseLineNumber(text.slice(colon + 1))
  if (from === null || to === null) return null
  return from <= to ? { from, to } : { from: to, to: from }
}

function parseLineNumber(text: string): number | null {
  if (!/^\d{1,10}$/u.test(text)) return null
  const line = Number(text)
  return line <= MAX_LINE ? line : null
}

/** Removes the inner frames if all the exceptions, by class names with dots, are the one that was thrown. */
const rewriteSchema = z.object({ thrown: z.array(z.string()).readonly(), removeInnerFrames: z.int().min(0) })

/** The facts of comments below a member that retracing needs. `positions`: line in the outline → line in the method. */
const memberFactsSchema = z.object({
  synthesized: z.literal(true).optional(),
  outline: z.literal(true).optional(),
  positions: z.record(z.string(), z.int()).readonly().optional(),
  rewrites: z.array(rewriteSchema).readonly().optional(),
})

export type MemberFacts = Readonly<z.infer<typeof memberFactsSchema>>

type FrameRewrite = Readonly<z.infer<typeof rewriteSchema>>

/** @returns the facts that an index keeps as JSON */
export function readMemberFacts(json: string): MemberFacts {
  return memberFactsSchema.parse(JSON.parse(json))
}

const commentSchema = z.object({
  id: z.string(),
  fileName: z.string().optional(),
  positions: z.record(z.string(), z.int().min(0).max(MAX_LINE)).optional(),
  conditions: z.array(z.string()).optional(),
  actions: z.array(z.string()).optional(),
})

export type MappingComment = z.infer<typeof commentSchema>

/** @returns the content of a comment such as `# {"id":"sourceFile","fileName":"A.kt"}` */
export function parseComment(line: string): MappingComment | null {
  const brace = line.indexOf('{')
  if (!line.startsWith('#') || brace < 0 || line.slice(1, brace).trim() !== '') return null
  const json = line.slice(brace)
  const parsed = commentSchema.safeParse(readJsonText(json) ?? readJsonText(withQuotedKeys(json)))
  return parsed.success ? parsed.data : null
}

/** The page of R8 writes examples with single quotes and bare keys; its own tools accept them. */
function withQuotedKeys(json: string): string {
  return json.replaceAll("'", '"').replaceAll(/([{,]\s*)([A-Za-z]\w*)(?=\s*:)/gu, '$1"$2"')
}

/** Adds the fact of a comment to the facts of the member above it. */
export function addMemberFact(facts: MemberFacts, comment: MappingComment): MemberFacts {
  switch (comment.id) {
    case 'com.android.tools.r8.synthesized':
      return { ...facts, synthesized: true }
    case 'com.android.tools.r8.outline':
      return { ...facts, outline: true }
    case 'com.android.tools.r8.outlineCallsite':
      return { positions: comment.positions, ...facts }
    case 'com.android.tools.r8.rewriteFrame': {
      const rewrite = parseRewrite(comment)
      const rewrites = facts.rewrites ?? []
      return rewrite && rewrites.length < MAX_REWRITES ? { ...facts, rewrites: [...rewrites, rewrite] } : facts
    }
    default:
      return facts
  }
}

/** A rewrite with a condition or an action of a later version is not applied at all. */
function parseRewrite({ conditions = [], actions = [] }: MappingComment): FrameRewrite | null {
  const thrown: string[] = []
  for (const condition of conditions) {
    const [, descriptor] = /^throws\(L([^;()]+);\)$/u.exec(condition) ?? []
    if (descriptor === undefined) return null
    thrown.push(descriptor.replaceAll('/', '.'))
  }
  let removeInnerFrames = 0
  for (const action of actions) {
    const [, count] = /^removeInnerFrames\((\d{1,4})\)$/u.exec(action) ?? []
    if (count === undefined) return null
    removeInnerFrames += Number(count)
  }
  return { thrown, removeInnerFrames }
}
