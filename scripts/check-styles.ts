/**
 * Checks the style sheets of the dashboard (`npm run check`). Colours, spaces, font sizes and radii come from
 * `web/ui/tokens.css`; a sheet is a CSS module beside its component; its classes are exactly those its importers use.
 * The number of rules that repeat another rule's declarations may only fall.
 */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Path under `web/` → text. */
export type Sources = ReadonlyMap<string, string>

/** The sheets whose classes are global: tokens, and the look of elements. */
const GLOBAL = ['ui/tokens.css', 'ui/base.css']

/** The most rules that may repeat another rule's declarations. May only fall: lower it after removing repetitions. */
export const MAX_REPEATED_RULES = 240

/** Hex, functional notations and common colour names. */
const COLOUR_IN_STYLES =
  /#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})\b|\b(?:rgba?|hsla?|hwb|lab|lch|oklab|oklch|color)\((?!\s*from\s+var\(|-mix)|:\s*(?:white|black|red|green|blue|gray|grey|orange|yellow|purple)\b/gi
/** In code only inside quotes: `#` also begins anchors and issue numbers. */
const COLOUR_IN_CODE =
  /(['"`])(?:#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})|(?:rgba?|hsla?|oklch|oklab)\([^'"`]*\))\1/gi

/** Properties whose lengths come from the tokens; `font` for its size. */
const SPACED =
  /(?<![\w-])((?:(?:scroll-)?(?:padding|margin)(?:-[a-z-]+)?|(?:row-|column-)?gap|font-size|font|border(?:-[a-z]+){0,2}-radius))\s*:\s*([^;}]+)/gi
/** A hairline is one pixel everywhere. */
const RAW_LENGTH = /(?<![\w.-])-?(?!1px)(?:\d*\.)?\d+(?:px|rem|em|pt|ch)\b/gi
const SPACE_IN_CODE =
  /(?<![\w-])(?:padding|margin|gap|rowGap|columnGap|fontSize|borderRadius)(?:Block|Inline|Top|Right|Bottom|Left|Start|End)*:\s*(?:\d*[1-9]\d*|['"`][^'"`]*\d(?:px|rem|em)[^'"`]*['"`])/g

const withoutComments = (css: string): string => css.replaceAll(/\/\*[\s\S]*?\*\//g, '')

export function rawColours(file: string, text: string): string[] {
  const found = withoutComments(text).matchAll(file.endsWith('.css') ? COLOUR_IN_STYLES : COLOUR_IN_CODE)
  return [...found].map(([colour]) => `raw colour ${colour}: take one of web/ui/tokens.css`)
}

export function rawSpaces(file: string, text: string): string[] {
  if (!file.endsWith('.css'))
    return [...text.matchAll(SPACE_IN_CODE)].map(([space]) => `raw space ${space}: take one of web/ui/tokens.css`)
  return [...withoutComments(text).matchAll(SPACED)].flatMap(([, property = '', value = '']) =>
    [...value.matchAll(RAW_LENGTH)].map(([length]) => `raw ${property} ${length}: take one of web/ui/tokens.css`),
  )
}

/** The shell divides the window; every other part reacts to the width it is given. */
const WINDOW_WIDTH = /@media[^{]*\b(?:width|inline-size)\b[^{]*(?=\{)|matchMedia\([^)]*\bwidth\b.*?\)/g

export function windowQueries(file: string, text: string): string[] {
  if (file.startsWith('shell/')) return []
  return [...withoutComments(text).matchAll(WINDOW_WIDTH)].map(
    ([query]) => `${query.trim()}: ask the width of the container (@container); only web/shell asks that of the window`,
  )
}

/** Classes that a module defines, without those inside `:global()`. */
export function classesOf(css: string): Set<string> {
  const plain = withoutComments(css).replaceAll(/(['"]).*?\1/g, '')
  const selectors = [...plain.matchAll(/([^{};]+)\{/g)].map(([, prelude = '']) => prelude.trim())
  return new Set(
    selectors
      .filter((selector) => !selector.startsWith('@'))
      .flatMap((selector) => [
        ...selector.replaceAll(/:global\([^()]*(?:\([^()]*\)[^()]*)*\)/g, '').matchAll(/\.(-?[_a-zA-Z][\w-]*)/g),
      ])
      .map(([, name = '']) => name),
  )
}

/** The classes that importers take from each module, and those that are missing or unused. */
function moduleProblems(sources: Sources): string[] {
  const used = new Map<string, Set<string>>()
  const problems: string[] = []
  for (const [file, text] of sources) {
    if (file.endsWith('.css')) continue
    for (const [, name = '', path = ''] of text.matchAll(/import (\w+) from '(\.[^']*\.module\.css)'/g)) {
      const sheet = normalize(join(dirname(file), path))
      const classes = used.get(sheet) ?? new Set<string>()
      used.set(sheet, classes)
      const defined = classesOf(sources.get(sheet) ?? '')
      for (const [, one = ''] of text.matchAll(new RegExp(`(?<![\\w.])${name}\\.(\\w+)`, 'g'))) {
        classes.add(one)
        if (!defined.has(one)) problems.push(`${file}: ${sheet} has no class ${one}`)
      }
      if (new RegExp(`(?<![\\w.])${name}\\[`).test(text))
        problems.push(`${file}: classes are written out; ${name}[…] hides which are used`)
    }
  }
  for (const [file, text] of sources) {
    if (!file.endsWith('.module.css')) continue
    const classes = used.get(file)
    if (classes === undefined) problems.push(`${file}: nothing imports it`)
    else
      for (const one of classesOf(text)) if (!classes.has(one)) problems.push(`${file}: nothing uses the class ${one}`)
  }
  return problems
}

/** One entry for each rule: its declarations, sorted, without comments and with one space between words. */
export function declarationsOf(css: string): string[] {
  const blocks: { prelude: string; declarations: string[] }[] = []
  const rules: string[] = []
  let text = ''
  const endDeclaration = (): void => {
    const declaration = text
      .trim()
      .replaceAll(/\s+/g, ' ')
      .replace(/\s*:\s*/, ': ')
    if (declaration !== '') blocks.at(-1)?.declarations.push(declaration)
    text = ''
  }
  for (const [token] of withoutComments(css).matchAll(/(['"]).*?\1|[{};]|[^'"{};]+/gs)) {
    if (token === '{') {
      blocks.push({ prelude: text.trim(), declarations: [] })
      text = ''
    } else if (token === ';') endDeclaration()
    else if (token === '}') {
      endDeclaration()
      const closed = blocks.pop()
      const isKeyframe = blocks.at(-1)?.prelude.startsWith('@keyframes') ?? false
      if (closed !== undefined && !closed.prelude.startsWith('@') && !isKeyframe)
        rules.push(closed.declarations.toSorted().join('; '))
    } else text += token
  }
  return rules
}

/**
 * How many rules there are, and how many of them repeat another one. A rule repeats when an earlier rule in any sheet
 * under `web/` has the same declarations, whatever their order and whatever the selectors, layers, container and media
 * queries of the two: of three equal rules two repeat. Steps of `@keyframes` are not rules.
 */
export function countRepeated(sources: Sources): { rules: number; repeated: number } {
  const rules = [...sources].filter(([file]) => file.endsWith('.css')).flatMap(([, text]) => declarationsOf(text))
  return { rules: rules.length, repeated: rules.length - new Set(rules).size }
}

/** Returns a sentence when more rules repeat another one than `most`. */
export function repetitionProblems(sources: Sources, most = MAX_REPEATED_RULES): string[] {
  const { rules, repeated } = countRepeated(sources)
  if (repeated <= most) return []
  return [
    `${repeated} of ${rules} CSS rules repeat the declarations of another rule, at most ${most} may: ` +
      'use a class of web/ui, or join the selectors',
  ]
}

/** Returns one sentence for each problem with the styles of the dashboard. */
export function styleProblems(sources: Sources): string[] {
  const isSheet = (file: string): boolean => file.endsWith('.css')
  const shelved = [...sources.keys()].filter(
    (file) => isSheet(file) && !file.endsWith('.module.css') && !GLOBAL.includes(file),
  )
  return [
    ...shelved.map((file) => `${file}: a sheet is a CSS module beside its component (*.module.css)`),
    ...[...sources]
      .filter(([file]) => file !== 'ui/tokens.css')
      .flatMap(([file, text]) =>
        [...rawColours(file, text), ...rawSpaces(file, text)].map((problem) => `${file}: ${problem}`),
      ),
    ...[...sources].flatMap(([file, text]) => windowQueries(file, text).map((problem) => `${file}: ${problem}`)),
    ...moduleProblems(sources),
  ]
}

/** Every style sheet and code file under `web/`, without tests and builds. */
export function readSources(web: string): Sources {
  const files = globSync('**/*.{css,ts,tsx}', { cwd: web, exclude: (name) => name.startsWith('dist') })
  return new Map(
    files
      .filter((file) => !file.includes('.test.'))
      .map((file) => [file, readFileSync(join(web, file), 'utf8')] as const),
  )
}

if (import.meta.main) {
  const sources = readSources(fileURLToPath(new URL('../web', import.meta.url)))
  const problems = [...styleProblems(sources), ...repetitionProblems(sources)]
  for (const problem of problems) console.log(`web/${problem}`)
  process.exitCode = problems.length === 0 ? 0 : 1
}
