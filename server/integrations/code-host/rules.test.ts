import { sign, verify } from '@octokit/webhooks-methods'
import { describe, expect, test } from 'vitest'
import { compileOwners, parseCodeowners } from './codeowners.ts'
import { findIssues } from './fixes.ts'
import { framePath } from './frame-paths.ts'
import { changedLines, excerpt } from './patch-lines.ts'
import { headOfRelease } from './release-head.ts'
import { chooseFix } from './read-fix.ts'
import { readRepositoryUrl } from './repository-url.ts'
import { isHubSigned, isSecretSent, isStandardSigned } from './signatures.ts'
import { findRoots, sourcePath } from './source-roots.ts'
import { foldFileName } from './store-commits.ts'
import { signHub } from '#test/kit/code-host-github.ts'
import { gitlabDelivery } from '#test/kit/code-host-gitlab.ts'

/** The rules of the code host that need no database. */

test.each([
  ['fixes SHOP-42', [42], [42]],
  ['Fixed: shop-42, SHOP-43 and shop-44.', [42, 43, 44], [42, 43, 44]],
  ['closes SHOP-1\nresolves SHOP-2', [1, 2], [1, 2]],
  ['resolve SHOP-1, and SHOP-2', [1, 2], [1, 2]],
  ['see SHOP-7; this fixes nothing', [7], []],
  ['prefixes SHOP-7', [7], []],
  ['fixes SHOP-7b, SHOPS-8, XSHOP-9, fixes MY-SHOP-3', [], []],
  ['fixes  SHOP-5 & SHOP-6', [5, 6], [5, 6]],
  ['(fixes SHOP-5)', [5], [5]],
  ['fixes\nSHOP-5', [5], []],
  ['', [], []],
])('%j names %j and fixes %j', (text, mentioned, fixed) => {
  expect(findIssues(text, 'shop')).toEqual({ mentioned, fixed })
})

test('a long text without an end is read in linear time', () => {
  const started = performance.now()
  findIssues(`fixes ${'SHOP-1, '.repeat(200_000)}`, 'shop')
  findIssues('fixes \t '.repeat(200_000), 'shop')
  expect(performance.now() - started).toBeLessThan(5_000)
})

describe('signatures', () => {
  // https://docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries
  const secret = "It's a Secret to Everybody"
  const body = Buffer.from('Hello, World!')
  const signature = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17'

  test('the example that GitHub publishes', () => {
    expect(isHubSigned({ 'x-hub-signature-256': signature }, body, secret)).toBe(true)
    expect(
      isHubSigned({ 'x-hub-signature-256': signature.toUpperCase().replace('SHA256', 'sha256') }, body, secret),
    ).toBe(true)
    for (const wrong of [
      signature.slice(0, -1),
      `${signature}0`,
      signature.replace('7571', '7572'),
      signature.replace('sha256', 'sha1'),
      '',
    ])
      expect(isHubSigned({ 'x-hub-signature-256': wrong }, body, secret), wrong).toBe(false)
    expect(isHubSigned({ 'x-hub-signature-256': signature }, Buffer.from('Hello, World'), secret)).toBe(false)
    expect(isHubSigned({}, body, secret)).toBe(false)
  })

  test.each(['Hello, World!', '{"ref":"refs/heads/main","emoji":"🚀\\u00e9"}', ' '])(
    'the library of GitHub signs what is taken, and verifies what the stand-in signs (%#)',
    async (text) => {
      const bytes = Buffer.from(text)
      expect(isHubSigned({ 'x-hub-signature-256': await sign(secret, text) }, bytes, secret)).toBe(true)
      expect(await verify(secret, text, signHub(secret, bytes))).toBe(true)
      expect(isHubSigned({ 'x-hub-signature-256': await sign('another', text) }, bytes, secret)).toBe(false)
      // Parsed and written again, the bytes are others.
      const again = `${text} `
      expect(isHubSigned({ 'x-hub-signature-256': await sign(secret, text) }, Buffer.from(again), secret)).toBe(false)
    },
  )

  test('the token and the signature of GitLab', () => {
    const now = new Date()
    const own = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'
    const { headers, body: text } = gitlabDelivery(own, 'push', { ref: 'refs/heads/main' }, { signedAt: now })
    const bytes = Buffer.from(text)
    expect(isStandardSigned(headers, bytes, own, now)).toBe(true)
    expect(isStandardSigned(headers, Buffer.from(`${text} `), own, now)).toBe(false)
    expect(isStandardSigned(headers, bytes, own, new Date(now.getTime() + 301_000))).toBe(false)
    expect(isStandardSigned(headers, bytes, own, new Date(now.getTime() - 302_000))).toBe(false)
    expect(isStandardSigned({ ...headers, 'webhook-id': 'another' }, bytes, own, now)).toBe(false)
    expect(isSecretSent({ 'x-gitlab-token': own }, 'x-gitlab-token', own)).toBe(true)
    expect(isSecretSent({ 'x-gitlab-token': `${own} ` }, 'x-gitlab-token', own)).toBe(false)
    expect(isSecretSent({}, 'x-gitlab-token', own)).toBe(false)
  })
})

test.each([
  ['https://github.com/acme/shop', undefined, 'https://github.com/acme/shop', 'github'],
  ['https://github.com/acme/shop.git', undefined, 'https://github.com/acme/shop', 'github'],
  ['https://github.com/acme/shop/tree/main?tab=readme', undefined, 'https://github.com/acme/shop', 'github'],
  ['https://gitlab.com/acme/apps/shop/-/tree/main', undefined, 'https://gitlab.com/acme/apps/shop', 'gitlab'],
  ['https://code.example.com/acme/apps/shop/', 'gitlab', 'https://code.example.com/acme/apps/shop', 'gitlab'],
] as const)('%s is a repository', (given, provider, url, found) => {
  expect(readRepositoryUrl(given, provider)).toEqual({ url, provider: found })
})

test.each([
  ['git@github.com:acme/shop.git', undefined, 'not one for git'],
  ['shop', undefined, 'must be an address'],
  ['ftp://github.com/acme/shop', undefined, 'must be an address'],
  ['https://me:token@github.com/acme/shop', undefined, 'no user name and no token'],
  ['https://code.example.com/acme/shop', undefined, 'Say with provider'],
  ['https://github.com/acme/shop', 'gitlab', 'is GitHub'],
  ['https://github.com/acme', undefined, 'an owner and a repository'],
] as const)('%s is refused', (given, provider, why) => {
  expect(() => readRepositoryUrl(given, provider)).toThrow(why)
})

test.each([
  [{ filename: 'app:///src/pay.ts?v=2', abs_path: null, module: null }, 'src/pay.ts'],
  [{ filename: 'webpack:///./src/pay.ts', abs_path: null, module: null }, 'src/pay.ts'],
  [{ filename: 'https://cdn.example.com/assets/pay.js', abs_path: null, module: null }, 'assets/pay.js'],
  [
    { filename: 'CheckoutFragment.kt', abs_path: null, module: 'com.acme.checkout.CheckoutFragment' },
    'com/acme/checkout/CheckoutFragment.kt',
  ],
  [{ filename: 'pay.py', abs_path: '/srv/app/shop/pay.py', module: 'shop.pay' }, 'srv/app/shop/pay.py'],
  [{ filename: 'C:\\build\\Shop\\Pay.cs', abs_path: null, module: null }, 'build/Shop/Pay.cs'],
  [{ filename: '<anonymous>', abs_path: null, module: null }, null],
])('%j is %s', (frame, path) => {
  expect(framePath(frame)).toBe(path)
})

describe('source roots', () => {
  const repository = [
    'app/src/main/kotlin/com/meadowlark/checkout/CheckoutFragment.kt',
    'app/src/main/kotlin/com/meadowlark/payment/PaymentCoordinator.kt',
    'web/src/index.ts',
    'admin/src/index.ts',
    'web/src/cart/index.ts',
  ]
  const known = Map.groupBy(repository, foldFileName)

  test('are found by trial, as in a monorepo', () => {
    const frames = [
      'com/meadowlark/checkout/CheckoutFragment.kt',
      'com/meadowlark/payment/PaymentCoordinator.kt',
      'kotlin/Result.kt',
    ]
    expect(findRoots(frames, known)).toEqual([
      {
        stack_root: 'com/meadowlark/',
        source_root: 'app/src/main/kotlin/com/meadowlark/',
        by: 'found',
        matched: 2,
        tried: 2,
      },
    ])
  })

  test('a file that could be two is none; a typed root decides', () => {
    const all = new Set(repository)
    expect(sourcePath('src/index.ts', [], all)).toBeNull()
    expect(sourcePath('srv/app/src/cart/index.ts', [], all)).toBe('web/src/cart/index.ts')
    expect(sourcePath('src/index.ts', [{ stack_root: 'src/', source_root: 'admin/src/', by: 'member' }], all)).toBe(
      'admin/src/index.ts',
    )
    expect(
      sourcePath('src/index.ts', [{ stack_root: 'app:///src/', source_root: 'web/src/', by: 'member' }], all),
    ).toBe('web/src/index.ts')
    expect(sourcePath('src/gone.ts', [{ stack_root: 'src/', source_root: 'web/src/', by: 'found' }], all)).toBeNull()
  })
})

test('CODEOWNERS of GitHub and GitLab become ownership rules', () => {
  const lines = parseCodeowners(
    [
      '# comment',
      '*       @acme/everyone',
      '/app/src/main/kotlin/com/meadowlark/checkout/  @tomo robin@meadowlark.example # who',
      'docs/*.md  @stranger',
      'a\\ file.txt tomo@meadowlark.example',
      '/generated/',
      '[Payments][2] @acme/payments',
      'payments/',
    ].join('\n'),
  )
  const find = (owner: string) =>
    owner === '@tomo' || owner === 'tomo@meadowlark.example'
      ? { userId: 'tomo' }
      : owner.includes('/')
        ? { team: owner.split('/')[1] ?? '' }
        : null
  const roots = [{ stack_root: 'com/meadowlark/', source_root: 'app/src/main/kotlin/com/meadowlark/' }]
  const { rules, unknown } = compileOwners(lines, find, roots)
  expect(rules.map(({ match, glob, user_id, team }) => [match, glob, user_id ?? team])).toEqual([
    ['path', '*', 'everyone'],
    ['path', 'app/src/main/kotlin/com/meadowlark/checkout/*', 'tomo'],
    ['path', 'com/meadowlark/checkout/*', 'tomo'],
    ['module', 'com.meadowlark.checkout.*', 'tomo'],
    ['path', 'a file.txt', 'tomo'],
    ['path', 'payments/*', 'payments'],
  ])
  expect(unknown).toEqual(['robin@meadowlark.example', '@stranger'])
})

const at = (hour: number) => new Date(Date.UTC(2026, 10, 20, hour))
const mention = (over: Partial<Parameters<typeof chooseFix>[0][number]> & { name: string }) => ({
  kind: 'pull' as const,
  state: 'open' as const,
  says_fix: true,
  mentioned_at: at(10),
  ...over,
})

test.each([
  ['nothing', 'unresolved', [], null],
  ['a mention is no fix', 'unresolved', [mention({ name: 'a', says_fix: false })], null],
  ['a closed one is none', 'unresolved', [mention({ name: 'a', state: 'closed' })], null],
  [
    'what came furthest',
    'unresolved',
    [mention({ name: 'a', state: 'mentioned', mentioned_at: at(12) }), mention({ name: 'b' })],
    'b',
  ],
  [
    'a pull request before its commit',
    'resolved',
    [
      mention({ name: 'a', kind: 'commit', state: 'fixes', mentioned_at: at(12) }),
      mention({ name: 'b', state: 'fixes' }),
    ],
    'b',
  ],
  ['the newest', 'unresolved', [mention({ name: 'a' }), mention({ name: 'b', mentioned_at: at(11) })], 'b'],
  ['a fix that did not hold', 'unresolved', [mention({ name: 'a', state: 'fixes' })], null],
  ['a merge before the regression', 'regressed', [mention({ name: 'a', state: 'merged' })], null],
  ['one that is open since before', 'regressed', [mention({ name: 'a' })], 'a'],
  [
    'a commit after the regression',
    'regressed',
    [mention({ name: 'a', state: 'mentioned', mentioned_at: at(20) })],
    'a',
  ],
] as const)('the fix that is shown: %s', (_, status, mentions, expected) => {
  expect(chooseFix(mentions, { status, status_changed_at: at(15) })?.name ?? null).toBe(expected)
})

test('lines of a diff', () => {
  const patch = '@@ -1,4 +1,4 @@\n a\n-b\n+B\n c\n-d\n e\n@@ -20,1 +19,3 @@ f()\n x\n+y\n+z'
  expect(changedLines(patch)).toEqual([
    [2, 1],
    [4, 1],
    [20, 2],
  ])
  expect(excerpt(patch, 2).map(({ line, sign, text }) => `${line}${sign}${text}`)).toEqual(['1 a', '2-b', '2+B', '3 c'])
  expect(excerpt(patch, 3)).toEqual([])
})

test.each([
  ['4.12.0', null, 'v4.12.0', true],
  ['com.meadowlark.shop@4.12.0', null, '4.12.0', true],
  ['com.meadowlark.shop@4.12.0+41201', null, 'shop@4.12.0', true],
  ['4.12.0', null, 'release/v4.12.0', true],
  ['4.12.0', null, 'v4.12.1', false],
  ['nightly', 'v9', 'v9', true],
])('release %s with ref %s is tag %s: %s', (version, ref, tag, isSame) => {
  expect(headOfRelease({ version, ref }, [{ tag, sha: 'abc' }])).toBe(isSame ? 'abc' : null)
})

test('a version or ref that is a hash needs no tag, and tags of two packages mean none', () => {
  const sha = 'a3f91c2'.padEnd(40, '0')
  expect(headOfRelease({ version: sha, ref: null }, [])).toBe(sha)
  expect(headOfRelease({ version: 'shop@1.0', ref: sha }, [])).toBe(sha)
  expect(headOfRelease({ version: 'a3f91c2', ref: null }, [])).toBe('a3f91c2')
  expect(headOfRelease({ version: '20261118', ref: null }, [])).toBeNull()
  expect(
    headOfRelease({ version: '1.0', ref: null }, [
      { tag: 'web@1.0', sha: 'a' },
      { tag: 'app@1.0', sha: 'b' },
    ]),
  ).toBeNull()
})
