import { filterWords, healthFilters, askedRange, type Intent } from '../asked.ts'
import { pathTo } from '../facts.ts'
import { findReleases, ofReleases } from '../find-release.ts'
import { Breakdown } from '../shapes.ts'
import { type Question, count, percent, plural, quoted } from '../question.ts'

const DIMENSIONS = [
  ['device_class', /device class|low[- ]end|high[- ]end|class of device/, 'device classes'],
  ['device', /\bdevices?\b|\bphones?\b|\bmodels?\b|handset|tablet|hardware/, 'devices'],
  [
    'os',
    /\boses\b|\bos\b|operating systems?|\bplatforms?\b|android (?:or|vs|versus|and|with|to|against|than) ios|ios (?:or|vs|versus|and|with|to|against|than) android/,
    'operating systems',
  ],
  [
    'environment',
    /\benvironments?\b|prod(?:uction)? (?:or|vs|versus|and|with|to|against|than) staging|staging (?:or|vs|versus|and|with|to|against|than) prod/,
    'environments',
  ],
  [
    'release',
    /(?:by|per|each|every|which|across|what) (?:app )?(?:releases?|versions?)|(?:releases?|versions?) (?:crash|are worst|is worst|have|has)|worst (?:release|version)/,
    'releases',
  ],
] as const

const dimensionOf = ({ text }: Question) => DIMENSIONS.find(([, words]) => words.test(text))

/** "Which devices crash most?", "Crash rate by version", "How do Android and iOS compare?" */
export const breakdown: Intent = {
  name: 'breakdown',
  fits(question) {
    if (question.issue !== null || question.user !== null) return 0
    const found = dimensionOf(question)
    if (found === undefined) return question.device === null ? 0 : 3
    return found[0] === 'environment' || found[0] === 'release' ? 6 : 6.5
  },
  async answer(asked) {
    const { question, facts, say } = asked
    const [dimension, , name] = dimensionOf(question) ?? DIMENSIONS[1]
    const { range, label } = askedRange(asked)
    // Systems or environments that are compared are no filter.
    const filtered = {
      ...question,
      ...(dimension === 'os' ? { os: null } : {}),
      ...(dimension === 'environment' ? { environment: null } : {}),
    }
    const isAnr = /\banrs?\b|not responding|hang/.test(question.text)
    const isUse =
      /most (?:used|common|popular)|\bused?\b|distribution|share|how many sessions|which .* (?:do|are) (?:our )?(?:users|people|customers)/.test(
        question.text,
      ) && !/crash/.test(question.text)
    const isBest = /\bbest\b|fewest|least|most stable|lowest/.test(question.text)
    const rate = isAnr ? 'anr_rate' : 'crash_rate'
    const releases = await findReleases(asked)
    if (question.releases.length > 0 && releases.length === 0) return
    const found = await ofReleases(asked, releases, (project, release) =>
      facts.read('readBreakdown', Breakdown, {
        query: {
          projectId: project.id,
          range,
          dimension,
          sort: isUse ? '-sessions' : isBest ? rate : `-${rate}`,
          limit: String(question.limit ?? 5),
          ...healthFilters(filtered, release?.version),
        },
      }),
    )
    for (const { project, release, figures } of found) {
      const what = `${name} of ${project.name}${release === undefined ? '' : ` with ${release.version}`}${filterWords(filtered)}`
      if (figures.sessions === 0) {
        say(`There are no sessions of ${project.name} ${label}, so its ${name} are unknown.`)
        continue
      }
      if (figures.rows.length === 0) {
        say(`The sessions of ${project.name} ${label} do not say their ${name}.`)
        continue
      }
      const cite = facts.source(
        `Sessions by ${what} ${label}`,
        'readBreakdown',
        pathTo('/metrics', { project: project.id, range }),
        [
          ['Name', 'Sessions', 'Share', 'Crashed', 'Crash rate', 'ANRs', 'ANR rate'],
          ...figures.rows.map((row) => [
            row.name ?? 'unknown',
            count(row.sessions),
            percent(row.share),
            count(row.crashed),
            row.crash_rate === null ? '–' : percent(row.crash_rate),
            count(row.anr),
            row.anr_rate === null ? '–' : percent(row.anr_rate),
          ]),
          ['All', count(figures.sessions)],
        ],
      )
      const order = isUse
        ? 'with most sessions'
        : `with the ${isBest ? 'lowest' : 'highest'} ${isAnr ? 'ANR' : 'crash'} rate`
      say(`${capital(what)} ${order} ${label}:`)
      for (const row of figures.rows) {
        const value = isUse ? row.share : row[rate]
        say(
          `- ${quoted(row.name ?? 'unknown')}: ${value === null ? 'unknown' : cite(percent(value))}${isUse ? ' of sessions' : ''}, ${isUse ? '' : `${cite(count(isAnr ? row.anr : row.crashed))} of `}${cite(count(row.sessions))} ${plural(row.sessions, 'session')}`,
        )
      }
    }
  },
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
