import { random } from '../payloads.ts'
import { className, functionName } from './words.ts'

/** A mapping as R8 writes it: fields, methods with lines, inlined calls, source files, synthesized lambdas. */

export type JvmFrame = { readonly module: string; readonly function: string; readonly lineno: number }

export type MadeMapping = {
  readonly text: Buffer
  /** Frames of the obfuscated app, at the same places in each build. */
  readonly frames: readonly JvmFrame[]
  /** Obfuscated names of classes, as messages have them. */
  readonly classes: readonly string[]
}

export function makeMapping({ classes, seed }: { readonly classes: number; readonly seed: number }): MadeMapping {
  const rand = random(seed)
  // Each build gives other short names.
  const shift = Math.floor(rand() * 10_000)
  const short = (n: number): string => {
    const k = (n * 7919 + shift) % (classes + 10_000)
    return `${letters(Math.floor(k / 400))}.${letters(k % 400)}`
  }
  const frames: JvmFrame[] = []
  const lines = ['# compiler: R8', '# compiler_version: 8.5.35', '# min_api: 24', '# common_typos_disable']
  for (let n = 0; n < classes; n++) {
    const fixed = random(n + 1)
    const { area, name } = className(n)
    const module = short(n)
    lines.push(`com.acme.${area}.${name} -> ${module}:`, `# {"id":"sourceFile","fileName":"${name}.kt"}`)
    for (let field = 0; field < 3; field++)
      lines.push(`    com.acme.${area}.${className(n + field).name} field${field} -> ${letters(field)}`)
    const methods = 2 + Math.floor(fixed() * 6)
    let minified = 1
    for (let method = 0; method < methods; method++) {
      // Overloads share a short name.
      const obfuscated = letters(Math.floor(method / 1.5))
      const own = `void ${functionName(n + method)}(java.util.List,int)`
      let line = 20 + method * 30 + (seed % 3)
      for (let range = 1 + Math.floor(fixed() * 3); range > 0; range--) {
        const to = minified + Math.floor(fixed() * 4)
        const isInlined = fixed() < 0.4
        if (isInlined) {
          const other = className((n * 31 + method) % classes)
          lines.push(
            `    ${minified}:${to}:int com.acme.${other.area}.${other.name}.${functionName(method * 3)}(int):${line + 400}:${line + 400 + to - minified} -> ${obfuscated}`,
          )
        }
        lines.push(
          `    ${minified}:${to}:${own}:${line}${isInlined ? '' : `:${line + to - minified}`} -> ${obfuscated}`,
        )
        if (range === 1 && (n + method) % 10 === 0) frames.push({ module, function: obfuscated, lineno: to })
        minified = to + 1
        line += 5
      }
      if (method === 5) lines.push('      # {"id":"com.android.tools.r8.synthesized"}')
    }
  }
  return {
    text: Buffer.from(`${lines.join('\n')}\n`),
    frames,
    classes: Array.from({ length: 500 }, (_, n) => short(n * 90)),
  }
}

/** `a`, `b`, …, `z`, `aa`, … */
function letters(n: number): string {
  const last = String.fromCharCode(97 + (n % 26))
  return n < 26 ? last : letters(Math.floor(n / 26) - 1) + last
}
