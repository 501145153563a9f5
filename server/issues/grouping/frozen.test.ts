import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { LATEST_GROUPING_VERSION } from './grouping-rules.api.ts'
import { errorOf, eventOf } from './event.fixture.ts'
import { fingerprint } from './grouping.ts'
import { groupingVersions } from './registry.ts'

/** Grouping versions never change, because issues are found by their fingerprints. */

const text = (file: string): string => readFileSync(new URL(file, import.meta.url), 'utf8')

describe.each([
  [
    1,
    [
      "import { baseName, cleanClass, cleanFunction, fileName, withoutBuildHash } from './v1-names.ts'",
      "import { parameterise } from './v1-words.ts'",
    ],
  ],
  [
    2,
    [
      "import { baseName, cleanClass as cleanClassV1, cleanFunction as cleanFunctionV1, fileName as fileNameV1 } from './v1-names.ts'",
      "import { baseName, withoutBuildHash } from './v1-names.ts'",
      "import { cleanClass, cleanFunction, fileName } from './v2-names.ts'",
      "import { isSdkFrame } from '../../events/protocol/sdk-frames.ts'",
      "import { parameterise } from './v2-words.ts'",
      "import { roundOf } from './v2-rounds.ts'",
    ],
  ],
])('the files of version %i', (version, companions) => {
  test('import only frozen files and the type of an event', () => {
    const files = readdirSync(import.meta.dirname).filter((name) =>
      new RegExp(`^v${version}(?:-\\w+)?\\.ts$`).test(name),
    )
    expect(files.toSorted()).toEqual([
      `v${version}-names.ts`,
      ...(version === 2 ? ['v2-rounds.ts'] : []),
      `v${version}-words.ts`,
      `v${version}.ts`,
    ])
    const imports = files.flatMap((file) =>
      [...text(file).matchAll(/^import [^']*'[^']*'|\bimport\(.*/gm)].map(([line]) =>
        line.replaceAll(/\s+/g, ' ').replace(', } from', ' } from'),
      ),
    )
    expect(imports.toSorted()).toEqual(
      [
        "import type { Event } from '../../events/protocol/event.api.ts'",
        "import { hash } from 'node:crypto'",
        ...companions,
      ].toSorted(),
    )
  })
})

/** Digests of the files without the paths of their imports, which change when a folder moves. A wrong rule is corrected in a new version. */
const digestOf = (file: string): string => hash('sha256', text(file).replaceAll(/ from '[^']*'/g, ''))

test.each([
  ['v1.ts', '2fabc6e7de762f2b8a1ca56c8e39c99b35d7c93e0f344428406e5272ef90241a'],
  ['v1-names.ts', '36463c88cef63093045901293ffa5271fe701d90415fd379e49e8bbf9a30eeb2'],
  ['v1-words.ts', '4fe4caa9a1b84d1923faa04754e0f8de1a792d72c63593af39e39fc676784ff5'],
  ['v2.ts', '3516ce116f742bc55181a60651f60dccb59864edbe48055bd513e5cb075e8bb1'],
  ['v2-names.ts', '0bada2bca2968e02322506f8c15ff0b5335e292230d6a253cc4960c9d6ea4db0'],
  ['v2-rounds.ts', '8cebefeea7c2c6d9482b0e9686782503c0674636c7efeb690f93dad12f471372'],
  ['../../events/protocol/sdk-frames.ts', 'd1a16f543bbe681591c52bb22e7d0793e760a3833dcd89e9f8a90e32f7e3367d'],
  ['v2-words.ts', '01397ee496b9ce5ab0a1e4b62670c077331ef18d897d762cdde10a4747154938'],
])('%s never changes', (file, digest) => {
  expect(digestOf(file)).toBe(digest)
})

test('version 1 gets events as it knew them: with the marks of the SDK, without raw stacks', () => {
  const partsOf = (event: ReturnType<typeof eventOf>, version: number) =>
    fingerprint(event, { version }).parts.map(({ variant, values }) => [variant, values.map(({ value }) => value)])
  const marked = errorOf('java', 'E', [
    { module: 'java.lang.Thread', function: 'run', in_app: true },
    { module: 'com.acme.Cart', function: 'pay', in_app: true },
  ])
  expect(partsOf(marked, 1)).toEqual([['exception_stack', ['E', 'run', 'pay']]])
  expect(partsOf(marked, 2)).toEqual([['exception_stack', ['E', 'pay']]])
  const frames = [{ module: 'com.acme.Cart', function: 'pay', in_app: true }]
  const raw = eventOf({ platform: 'java', exception: { type: 'E', value: 'x', raw_stacktrace: { frames } } })
  expect(partsOf(raw, 1)).toEqual([['type_value', ['E', 'x']]])
  expect(partsOf(raw, 2)).toEqual([['exception_stack', ['E', 'pay']]])
})

test('new projects get the newest version, and an unknown version is an error', () => {
  expect(LATEST_GROUPING_VERSION).toBe(2)
  expect([...groupingVersions.keys()]).toEqual([1, 2])
  expect(fingerprint(eventOf({ message: 'a' })).version).toBe(2)
  expect(() => fingerprint(eventOf({}), { version: 99 })).toThrow(/no grouping version 99/)
})

test.each([
  [
    1,
    'd31914beda9d95eb3ee0841e12d04fba897cf6c47cbb1909f747eea2dcf6fe5f',
    '489177efeadb7abf46fb01b9159e836a352a6bb389ee353490c3abcea1783f34',
  ],
  [
    2,
    '2e3456650aa7923552ba9d39eaef1983acd675f618a043f1b7287c63d2b70c30',
    '9bd75507bb3acbeca205eb35d171a106e8356d9fab1b829473df1de11caff196',
  ],
])('version %i computes the same fingerprints as when it was written', (version, message, stack) => {
  const hashOf = (event: ReturnType<typeof eventOf>): string => fingerprint(event, { version }).hash.toString('hex')
  expect(hashOf(eventOf({ message: 'disk almost full' }))).toBe(message)
  expect(hashOf(errorOf('node', 'TypeError', [{ function: 'pay', filename: '/srv/app/pay.js', in_app: true }]))).toBe(
    stack,
  )
})
