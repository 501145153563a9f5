import { defineConfig, type OxlintOverride } from 'oxlint'
import { serverDistricts, serverFiles } from './scripts/districts.ts'
import { webFeatures, webLayers } from './scripts/web-layers.ts'

/**
 * Lint rules and import boundaries. Run through `npm run check`; type-aware rules need `oxlint-tsgolint`. The one-way
 * rules inside `server/` and `web/` are generated from `scripts/districts.ts` and `scripts/web-layers.ts`: add a folder
 * there only.
 */

type Restriction = { message: string; allowTypeImports?: boolean } & ({ regex: string } | { group: string[] })

/**
 * Places of `server/` as regular expressions for imports from a file in it: from a room, `#server/<path>` and
 * `../../<path>`, and rooms of the same district as `../<room>`; from a file beside the districts, `./<path>`.
 */
const anyOf = (names: readonly string[]): string =>
  `(?:${names.map((name) => (name.endsWith('.ts') ? `${name.replace('.', '\\.')}$` : `${name}/`)).join('|')})`
const fromRoom = (paths: readonly string[]): string => `^(?:#server/|(?:\\.\\./)+(?:server/)?)${anyOf(paths)}`

const neverFromProduct: Restriction[] = [
  { regex: '^(?:#test/|(?:\\.\\./)+test/)', message: 'Product code never imports tests.' },
  { regex: '^(?:#bench/|(?:\\.\\./)+bench/)', message: 'Product code never imports benches.' },
  { regex: '^(?:\\.\\./)+web/', message: 'The server never imports the web app.' },
]

const noEnvImport = {
  name: 'node:process',
  importNames: ['env'],
  message: 'Only server/config/ reads the environment.',
}

const restrict = (patterns: Restriction[]): NonNullable<OxlintOverride['rules']>['no-restricted-imports'] => [
  'error',
  { paths: [noEnvImport], patterns },
]

const roomRule = (place: string, pattern: string): Restriction => ({
  regex: pattern,
  message: `One-way rule: ${place} may import only what is above it in scripts/districts.ts.`,
})

/** Every room with what it may not import, types included: later rooms of its district and later districts. */
const rooms = serverDistricts.flatMap(({ name, rooms: own }, at) => {
  const later = serverDistricts.slice(at + 1).map((district) => district.name)
  return own.map((room: string, place) => {
    const below: readonly string[] = own.slice(place + 1)
    const outside = [...later, serverFiles.above]
    // A file of a district stands one folder above the rooms.
    const patterns = room.endsWith('.ts')
      ? [`^\\./${anyOf(below)}`, `^(?:#server/|\\.\\./)${anyOf(outside)}`, `^#server/${name}/${anyOf(below)}`]
      : [fromRoom(outside), `^(?:\\.\\./)+${anyOf(below)}`, `^(?:#server/|(?:\\.\\./)+)${name}/${anyOf(below)}`]
    return {
      path: `${name}/${room}`,
      restrictions: patterns
        .filter((pattern) => below.length > 0 || !pattern.endsWith(anyOf(below)))
        .map((pattern) => roomRule(`${name}/${room}`, pattern)),
    }
  })
})

const layers: OxlintOverride[] = [
  {
    files: [`server/${serverFiles.below}/*.ts`],
    rules: {
      'no-restricted-imports': restrict([
        ...neverFromProduct,
        roomRule(
          serverFiles.below,
          `^(?:#server/|\\.\\./)${anyOf([...serverDistricts.map(({ name }) => name), serverFiles.above])}`,
        ),
      ]),
    },
  },
  {
    files: [`server/${serverFiles.above}`],
    rules: { 'no-restricted-imports': restrict(neverFromProduct) },
  },
  ...rooms.map(({ path, restrictions }): OxlintOverride => ({
    files: [path.endsWith('.ts') ? `server/${path}` : `server/${path}/**/*.ts`],
    rules: { 'no-restricted-imports': restrict([...neverFromProduct, ...restrictions]) },
  })),
]

/**
 * Contract files are data: what they import reaches the browser's types. The order of the rooms applies to them too.
 */
const contracts = rooms
  .filter(({ path }) => path.endsWith('.api.ts') || !path.endsWith('.ts'))
  .map(({ path, restrictions }): OxlintOverride => ({
    files: [
      path.endsWith('.ts') ? `server/${path}` : `server/${path}/**/*.api.ts`,
      ...(path === 'service/api' ? ['server/service/api/contract.ts'] : []),
    ],
    rules: {
      // The order first: a path that the second pattern allows is not checked against later ones.
      'no-restricted-imports': restrict([
        ...restrictions,
        {
          group: ['**', '!zod', '!#shared/**', '!**/kernel/**', '!**/*.api.ts'],
          message: 'Contract files import only zod, shared/, platform/kernel/ and other *.api.ts files.',
        },
      ]),
    },
  }))

/** Types of the contract, and nothing else of the server. */
const contractTypes: Restriction[] = [
  {
    regex: '^(?:#server/|(?:\\.\\./)+server/)',
    allowTypeImports: true,
    message: 'The web app imports types of the server, never its code: use `import type`.',
  },
  {
    group: ['#server/**', '**/server/**', '!**/*.api.ts', '!**/service/api/contract.ts', '!**/kernel/contract.ts'],
    message: 'The web app knows only service/api/contract.ts, platform/kernel/contract.ts and *.api.ts of the server.',
  },
]

const nothingOfServer: Restriction = {
  regex: '^(?:#server/|(?:\\.\\./)+server/)',
  message: 'Only api/ and the layers after it in scripts/web-layers.ts import types of the server.',
}

/** Folders `<name>/` and files of `web/`, from any depth below it; from `web/` itself with `./`. */
const webPath = (from: string, names: readonly string[]): string =>
  `^${from.endsWith('.tsx') ? '\\./' : '(?:\\.\\./)+(?:web/)?'}(?:${names
    .map((name) => (name.endsWith('.tsx') ? `${name.replace('.', '\\.')}$` : `${name}/`))
    .join('|')})`

/** What a layer of the web app may not import: every layer below it in the list, types included. */
function upward(layer: (typeof webLayers)[number]): Restriction[] {
  const below = webLayers.slice(webLayers.indexOf(layer) + 1)
  if (below.length === 0) return []
  return [
    {
      regex: webPath(layer, below),
      message: `One-way rule: ${layer} may import only what is above it in scripts/web-layers.ts.`,
    },
  ]
}

const byLayer = webLayers.map((layer): OxlintOverride => ({
  files: layer.endsWith('.tsx') ? [`web/${layer}`] : [`web/${layer}/**/*.ts`, `web/${layer}/**/*.tsx`],
  rules: {
    'no-restricted-imports': restrict([
      ...(layer === 'ui' || layer === 'address' ? [nothingOfServer] : contractTypes),
      ...upward(layer),
      ...(layer === 'ui'
        ? [{ regex: '^@tanstack/react-(?:query|router)', message: 'ui/ knows neither router nor data.' }]
        : []),
    ]),
  },
}))

/** A feature of the same district is reached by its own name, any other by that of its district. */
function otherFeatures(feature: (typeof webFeatures)[number]): string[] {
  const [district = '', room] = feature.split('/')
  const others = webFeatures.filter((other) => other !== feature).map((other) => other.split('/'))
  const rooms = others.filter(([name]) => name === district).map(([, name = '']) => name)
  return [
    ...new Set(others.map(([name = '']) => name).filter((name) => name !== district)),
    ...(room === undefined ? [] : rooms.map((name) => `(?:${district}/)?${name}`)),
  ]
}

const byFeature = webFeatures.map((feature): OxlintOverride => ({
  files: [`web/features/${feature}/**/*.ts`, `web/features/${feature}/**/*.tsx`],
  rules: {
    'no-restricted-imports': restrict([
      ...contractTypes,
      ...upward('features'),
      {
        regex: `^(?:\\.\\./)+(?:(?:web/)?features/)?(?:${otherFeatures(feature).join('|')})/`,
        message: 'A feature does not import another: what both need goes to a layer before web/features/.',
      },
    ]),
  },
}))

export default defineConfig({
  options: { typeAware: true, reportUnusedDisableDirectives: 'error' },
  plugins: ['eslint', 'typescript', 'unicorn', 'oxc', 'import', 'node', 'react', 'jsx-a11y', 'vitest'],
  categories: { correctness: 'error' },
  env: { builtin: true, es2024: true },
  ignorePatterns: [
    'node_modules',
    'test/**/apps',
    'data',
    'web/dist',
    'test/fixtures',
    'bench/.cache',
    'test/.cache',
    'coverage',
    // A script of browsers, without types.
    'scripts/guide/guide.js',
    // AssemblyScript, whose types are others.
    'wasm',
  ],
  rules: {
    // Promises: an error in a promise that is not awaited is lost.
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/await-thenable': 'error',
    'typescript/return-await': ['error', 'error-handling-correctness-only'],
    'typescript/only-throw-error': 'error',
    'typescript/prefer-promise-reject-errors': 'error',
    'no-async-promise-executor': 'error',

    // Types: unknown data is parsed before use.
    'typescript/no-explicit-any': 'error',
    'typescript/no-unsafe-assignment': 'error',
    'typescript/no-unsafe-call': 'error',
    'typescript/no-unsafe-member-access': 'error',
    'typescript/no-unsafe-return': 'error',
    'typescript/no-unsafe-argument': 'error',
    'typescript/no-unsafe-function-type': 'error',
    'typescript/ban-ts-comment': 'error',
    'typescript/no-non-null-assertion': 'error',
    'typescript/no-unnecessary-type-assertion': 'error',
    'typescript/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    'typescript/restrict-plus-operands': 'error',
    'typescript/no-deprecated': 'error',
    'typescript/no-namespace': 'error',
    'typescript/no-require-imports': 'error',

    // Modules.
    'typescript/consistent-type-imports': 'error',
    'typescript/no-import-type-side-effects': 'error',
    'import/no-cycle': ['error', { ignoreTypes: false }],
    'import/no-default-export': 'error',
    'import/no-self-import': 'error',
    'import/no-duplicates': 'error',
    'import/first': 'error',
    'import/no-mutable-exports': 'error',
    'import/no-commonjs': 'error',

    // Readability.
    eqeqeq: ['error', 'always', { null: 'ignore' }],
    'no-var': 'error',
    'prefer-const': 'error',
    'no-console': 'error',
    'no-eval': 'error',
    'no-new-func': 'error',
    'no-param-reassign': 'off',
    'no-else-return': 'error',
    'unicorn/filename-case': ['error', { case: 'kebabCase' }],
    'unicorn/prefer-node-protocol': 'error',
    'unicorn/throw-new-error': 'error',
    'unicorn/no-array-for-each': 'error',
    'node/no-process-env': 'error',
    'react/react-in-jsx-scope': 'off',
    'react/rules-of-hooks': 'error',
    'react/exhaustive-deps': 'error',
    // The log-in page exists for its first field.
    'jsx-a11y/no-autofocus': 'off',
    // Telemetry is hostile text: expressions match NUL and lone surrogates.
    'no-control-regex': 'off',
  },
  overrides: [
    ...layers,
    ...contracts,
    {
      files: ['server/config/*.ts'],
      rules: { 'node/no-process-env': 'off' },
    },
    {
      // The command line prints.
      files: [
        'server/main.ts',
        'server/service/cli/**/*.ts',
        'scripts/**',
        'bench/**/*.ts',
        'demo/**/*.ts',
        'test/torture/**/*.ts',
      ],
      rules: { 'no-console': 'off' },
    },
    {
      files: [
        'scripts/**',
        'bench/**/*.ts',
        'demo/**/*.ts',
        'test/**',
        '**/*.test.ts',
        '**/*.test.tsx',
        '*.config.ts',
        'web/*.config.ts',
      ],
      rules: { 'node/no-process-env': 'off' },
    },
    {
      // Plain JavaScript for Node 20, or for the pages of others, has no types to check.
      files: ['**/*.mjs', 'server/**/*.js'],
      rules: {
        'typescript/no-unsafe-assignment': 'off',
        'typescript/no-unsafe-call': 'off',
        'typescript/no-unsafe-member-access': 'off',
        'typescript/no-unsafe-return': 'off',
        'typescript/no-unsafe-argument': 'off',
      },
    },
    {
      // Tests may import everything.
      files: ['server/**/*.test.ts', 'server/**/*.fixture.ts', 'shared/**/*.test.ts'],
      rules: { 'no-restricted-imports': 'off' },
    },
    {
      files: ['**/*.test.ts', '**/*.test.tsx', 'test/**/*.ts'],
      rules: {
        'typescript/unbound-method': 'off',
        // The test asserts the shape of a response; a guard before every access would hide it.
        'typescript/no-non-null-assertion': 'off',
        'vitest/no-conditional-expect': 'off',
        'vitest/require-to-throw-message': 'off',
        'vitest/valid-title': 'off',
        'vitest/expect-expect': 'off',
        'vitest/valid-expect': 'off',
      },
    },
    {
      // Tools whose configuration is the default export.
      files: ['*.config.ts', 'web/*.config.ts', 'test/kit/global-setup.ts', 'test/e2e/global-setup.ts'],
      rules: { 'import/no-default-export': 'off' },
    },
    {
      files: ['web/**/*.ts', 'web/**/*.tsx'],
      rules: {
        // Letter tiles, avatars and charts are images for a screen reader without being <img>.
        'jsx-a11y/prefer-tag-over-role': 'off',
        'no-restricted-imports': restrict(contractTypes),
      },
    },
    ...byLayer,
    ...byFeature,
    {
      // The router throws redirects as objects.
      files: ['web/features/**/*.routes.ts'],
      rules: { 'typescript/only-throw-error': 'off' },
    },
  ],
})
