import { createHash } from 'node:crypto'
import { type BenchEvent, benchEvent, random, releaseName } from '../payloads.ts'
import { makeDebugFile } from './debug-file.ts'
import { makeMapping } from './mapping.ts'
import { makeSourceMap, readSources } from './source-map.ts'
import { AREAS, className, ERRORS, functionName, THINGS, VERBS } from './words.ts'

/**
 * Apps with the files of their builds, and events of them. Events vary as those of an app do: several builds are in use,
 * issues have frames of their own below a path that many share, messages, devices and breadcrumbs differ.
 */

export type SymbolApp = {
  readonly files: readonly AppFile[]
  readonly events: readonly BenchEvent[]
  /** Frames of the app's own code, which are looked up, on average. */
  readonly framesPerEvent: number
}

/** A file and the form of its upload. */
export type AppFile = {
  readonly path: 'source-maps' | 'dsyms'
  readonly filename: string
  readonly fields: Readonly<Record<string, string>>
  readonly debugId: string
  readonly pieces: readonly Buffer[]
}

export type AppShape = { readonly issues: number; readonly variants: number }

/** The newest releases. */
const BUILDS = [37, 38, 39] as const

export const APPS = {
  web: (shape: AppShape): SymbolApp =>
    scripts(shape, { name: 'web', isMetro: false, sourceBytes: 7_000_000, parts: 2 }),
  'react-native': (shape: AppShape): SymbolApp =>
    scripts(shape, { name: 'react-native', isMetro: true, sourceBytes: 7_000_000, parts: 2 }),
  android,
  ios,
} as const
export type AppName = keyof typeof APPS

/** One map of 20 MB for each build. */
export const largeMaps = (shape: AppShape): SymbolApp =>
  scripts(shape, { name: 'large', isMetro: false, sourceBytes: 12_350_000, parts: 1 })

type Stack = readonly number[]
type Bounds = readonly [least: number, most: number]

/**
 * The places of a stack, outermost first: a path to the code of the app that many issues share, then calls of the issue's own.
 * @param places how many there are
 */
function stackOf(issue: number, places: number, { path, own }: { readonly path: Bounds; readonly own: Bounds }): Stack {
  const run = (seed: number, [least, most]: Bounds): number[] => {
    const rand = random(seed)
    return Array.from({ length: least + Math.floor(rand() * (most - least + 1)) }, () => Math.floor(rand() * places))
  }
  return [...run(1_000_000 + (issue % PATHS), path), ...run(2_000_000 + issue, own)]
}
const PATHS = 12

/** Makes the events of all issues, builds and variants. */
function eventsOf(
  { issues, variants }: AppShape,
  builds: readonly number[],
  make: (issue: number, build: number, rand: () => number) => Record<string, unknown>,
): { readonly events: BenchEvent[]; readonly framesPerEvent: number } {
  const events: BenchEvent[] = []
  let frames = 0
  for (let issue = 0; issue < issues; issue++)
    for (const [at, build] of builds.entries())
      for (let variant = 0; variant < variants; variant++) {
        const rand = random(issue * 7_919 + at * 131 + variant)
        const body = { ...detailsOf(rand), ...make(issue, at, rand) }
        frames += JSON.stringify(body).split('"in_app":true').length - 1
        events.push(benchEvent(issue, body, 'gzip', build))
      }
  return { events, framesPerEvent: frames / events.length }
}

/** What SDKs send beside the stack. */
function detailsOf(rand: () => number): Record<string, unknown> {
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(rand() * list.length)]
  const screen = `${pick(AREAS)}Screen`
  return {
    level: 'error',
    environment: pick(['production', 'production', 'staging']),
    tags: { screen, tenant: `t${Math.floor(rand() * 30)}`, channel: pick(['store', 'beta', 'web']) },
    contexts: {
      os: { name: pick(['iOS', 'Android']), version: `${10 + Math.floor(rand() * 10)}.${Math.floor(rand() * 4)}` },
      device: {
        family: pick(['iPhone', 'Pixel', 'Galaxy']),
        model: `Model ${Math.floor(rand() * 60)}`,
        arch: 'arm64',
        memory_size: 8_000_000_000,
        free_memory: Math.floor(rand() * 4e9),
        battery_level: Math.floor(rand() * 100),
        orientation: 'portrait',
        locale: pick(['en_GB', 'de_DE', 'fr_FR']),
      },
      app: { app_identifier: 'com.acme.shop', app_memory: Math.floor(rand() * 4e8), view_names: [screen] },
    },
    breadcrumbs: Array.from({ length: 10 + Math.floor(rand() * 25) }, (_, n) => ({
      timestamp: 1_795_000_000 + n,
      type: n % 3 === 0 ? 'http' : 'default',
      category: n % 3 === 0 ? 'http' : 'ui.click',
      level: 'info',
      message: `${pick(VERBS)} ${pick(THINGS)} ${Math.floor(rand() * 1e4)}`,
      ...(n % 3 === 0 ? { data: { url: `https://shop.example/api/${pick(AREAS)}`, status_code: 200 } } : {}),
    })),
  }
}

const errorOf = (issue: number, rand: () => number): { readonly type: string; readonly value: string } => ({
  type: ERRORS[issue % ERRORS.length] ?? '',
  value: `${functionName(issue)} failed for ${THINGS[issue % THINGS.length]} ${Math.floor(rand() * 1e6)}`,
})

/** A UUID that the text determines. */
function uuidFor(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** Files of code of each build: parts of a page, which all frames are in, or the bundles of Android and iOS. */
function scripts(
  shape: AppShape,
  {
    name,
    isMetro,
    sourceBytes,
    parts: count,
  }: { readonly name: string; readonly isMetro: boolean; readonly sourceBytes: number; readonly parts: number },
): SymbolApp {
  const sources = readSources(sourceBytes)
  const size = Math.ceil(sources.length / count)
  const codeOf = (build: number, part: number): string =>
    isMetro
      ? (['app:///index.android.bundle', 'app:///main.jsbundle'][part] ?? '')
      : `https://shop.example/static/${['app', 'vendor'][part]}.${build}.js`
  const files: AppFile[] = []
  const made = BUILDS.map((build) =>
    Array.from({ length: count }, (_, part) => {
      const debugId = uuidFor(`${name} ${build} ${part}`)
      const own = isMetro ? sources : sources.slice(part * size, (part + 1) * size)
      const { json, calls } = makeSourceMap(own, { seed: build * 2 + part, debugId, isMetro })
      const code = codeOf(build, part)
      files.push({
        path: 'source-maps',
        filename: `${code.slice(code.lastIndexOf('/') + 1)}.map`,
        fields: { symbolication_type: 'js_source_map', release: releaseName(build), filename: code },
        debugId,
        pieces: [json],
      })
      return { code, calls, debugId }
    }),
  )
  const { events, framesPerEvent } = eventsOf(shape, BUILDS, (issue, build, rand) => {
    const parts = made[build] ?? []
    const only = isMetro ? Math.floor(rand() * count) : null
    const frames = stackOf(
      issue,
      1_000_000,
      isMetro ? { path: [12, 28], own: [8, 20] } : { path: [8, 20], own: [4, 14] },
    ).map((place) => {
      const { code, calls } = parts[only ?? place % count] ?? { code: '', calls: [] }
      const at = present(calls, place)
      return {
        filename: code,
        function: ['t', 'e.n', 'Object.r', '?', 'anonymous'][place % 5],
        in_app: true,
        lineno: 1,
        colno: (calls[at] ?? 0) + 1,
      }
    })
    return {
      platform: 'javascript',
      sdk: { name: isMetro ? 'sentry.javascript.react-native' : 'sentry.javascript.browser', version: '11.12.0' },
      transaction: isMetro ? undefined : `/${AREAS[issue % AREAS.length]}`,
      exception: {
        values: [
          { ...errorOf(issue, rand), mechanism: { type: 'generic', handled: rand() < 0.7 }, stacktrace: { frames } },
        ],
      },
      // Half of the apps' builds do not write debug ids: their files are found by release and address.
      ...(issue % 2 === 0
        ? {
            debug_meta: {
              images: parts.map(({ code, debugId }) => ({ type: 'sourcemap', code_file: code, debug_id: debugId })),
            },
          }
        : {}),
    }
  })
  return { files, events, framesPerEvent }
}

/** The place itself, or the next one that the build has. */
function present(calls: readonly number[], place: number): number {
  let at = place % calls.length
  while ((calls[at] ?? 0) < 0) at = (at + 1) % calls.length
  return at
}

function android(shape: AppShape): SymbolApp {
  const files: AppFile[] = []
  const made = BUILDS.map((build) => {
    const { text, frames, classes } = makeMapping({ classes: 50_000, seed: build })
    const debugId = uuidFor(`android ${build}`)
    files.push({
      path: 'source-maps',
      filename: 'mapping.txt',
      fields: { symbolication_type: 'proguard', release: releaseName(build), debug_id: debugId },
      debugId,
      pieces: [text],
    })
    return { frames, classes, debugId }
  })
  const { events, framesPerEvent } = eventsOf(shape, BUILDS, (issue, build, rand) => {
    const { frames: own, classes, debugId } = made[build] ?? { frames: [], classes: [], debugId: '' }
    const stack = (seed: number) => ({
      frames: stackOf(seed, own.length, { path: [8, 16], own: [6, 16] }).map((place, n) =>
        n % 4 === 3
          ? {
              module: 'android.os.Handler',
              function: 'dispatchMessage',
              lineno: 99 + (place % 9),
              filename: 'Handler.java',
              in_app: false,
            }
          : { ...own[place], filename: 'SourceFile', in_app: true },
      ),
    })
    const [one, other] = [classes[(issue * 3) % classes.length] ?? '', classes[(issue * 5) % classes.length] ?? '']
    const dot = one.lastIndexOf('.')
    const cause = {
      type: 'ClassCastException',
      module: 'java.lang',
      value: `${one} cannot be cast to ${other}`,
      stacktrace: stack(issue + 50_000),
    }
    const error =
      issue % 2 === 0
        ? { type: one.slice(dot + 1), module: one.slice(0, dot), value: errorOf(issue, rand).value }
        : { type: 'IllegalStateException', module: 'java.lang', value: `${errorOf(issue, rand).value} in ${other}.a` }
    return {
      platform: 'java',
      sdk: { name: 'sentry.java.android', version: '8.53.0' },
      exception: {
        values: [
          ...(issue % 3 === 0 ? [cause] : []),
          { ...error, mechanism: { type: 'UncaughtExceptionHandler', handled: false }, stacktrace: stack(issue) },
        ],
      },
      debug_meta: { images: [{ type: 'proguard', uuid: debugId }] },
    }
  })
  return { files, events, framesPerEvent }
}

const SYSTEM = [
  'UIKitCore',
  'CoreFoundation',
  'libdispatch.dylib',
  'Foundation',
  'libsystem_pthread.dylib',
  'QuartzCore',
]
const APP_FOLDER = '/private/var/containers/Bundle/Application/4C4C44AC/Shop.app'

function ios(shape: AppShape): SymbolApp {
  const files: AppFile[] = []
  const made = BUILDS.map((build) =>
    ['Shop', 'ShopKit'].map((image, part) => {
      const debugId = uuidFor(`ios ${build} ${image}`)
      const uuid = Buffer.from(debugId.replaceAll('-', ''), 'hex')
      const { pieces, returnAddresses } = makeDebugFile(25_000_000, build * 2 + part, uuid)
      files.push({ path: 'dsyms', filename: image, fields: {}, debugId, pieces })
      return { image, debugId, returnAddresses }
    }),
  )
  const { events, framesPerEvent } = eventsOf(shape, BUILDS, (issue, build, rand) => {
    const own = made[build] ?? []
    // Images are at other addresses in each run.
    const slide = 0x1_0000_0000 + Math.floor(rand() * 4_096) * 0x10_0000
    const images = [
      ...own.map(({ image, debugId }, n) => imageOf(`${APP_FOLDER}/${image}`, debugId, slide + n * 0x400_0000)),
      ...SYSTEM.map((name, n) => imageOf(`/System/Library/${name}`, uuidFor(name), 0x1_8000_0000 + n * 0x400_0000)),
    ]
    const frameOf = (place: number): Record<string, unknown> => {
      const isSystem = place % 3 === 0
      const n = isSystem ? own.length + (place % SYSTEM.length) : place % own.length
      const image = images[n]
      const addresses = isSystem ? [] : (own[n]?.returnAddresses ?? [])
      const offset = isSystem ? (place % 10_000) * 16 : (addresses[place % addresses.length] ?? 0)
      return {
        package: image?.code_file,
        image_addr: image?.image_addr,
        instruction_addr: hex(Number(image?.image_addr) + offset),
        function: isSystem ? `-[${className(place).name} ${functionName(place)}]` : '<redacted>',
        in_app: !isSystem,
      }
    }
    return {
      platform: 'cocoa',
      sdk: { name: 'sentry.cocoa', version: '9.20.0' },
      exception: {
        values: [
          {
            type: 'EXC_BAD_ACCESS',
            value: `KERN_INVALID_ADDRESS at ${hex(Math.floor(rand() * 2 ** 40))}`,
            mechanism: { type: 'mach', handled: false },
            stacktrace: { frames: stackOf(issue, 100_000, { path: [8, 16], own: [8, 16] }).map(frameOf) },
          },
        ],
      },
      threads: {
        values: [1, 2, 3].map((id) => ({
          id,
          crashed: false,
          stacktrace: {
            frames: stackOf(id * 1_000 + (issue % 40), 100_000, { path: [6, 8], own: [2, 4] }).map((place) =>
              frameOf(place - (place % 3)),
            ),
          },
        })),
      },
      debug_meta: { images },
    }
  })
  return { files, events, framesPerEvent }
}

const hex = (value: number): string => `0x${value.toString(16)}`

const imageOf = (file: string, debugId: string, at: number) => ({
  type: 'macho',
  code_file: file,
  debug_id: debugId,
  image_addr: hex(at),
  image_size: 0x400_0000,
  image_vmaddr: '0x100000000',
  arch: 'arm64',
})
