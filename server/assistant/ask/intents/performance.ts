import { filterWords, askedRange, type Asked, type Intent } from '../asked.ts'
import { pathTo, type Cite } from '../facts.ts'
import { findRelease, findReleases, ofReleases } from '../find-release.ts'
import { Performance } from '../shapes.ts'
import { count, duration, percent, plural, quoted } from '../question.ts'

const COMPARES = /compar|\bversus\b|\bvs\b|against|better|worse|than|differen/

type Figures = ReturnType<typeof Performance.parse>

/** Figures of performance for each project and each release that the question names. */
async function read(
  asked: Asked,
): Promise<{ figures: Figures; of: string; label: string; projectId: string; range: string }[]> {
  const { question, facts } = asked
  const { range, label } = askedRange(asked)
  const releases = await findReleases(asked)
  if (question.releases.length > 0 && releases.length === 0) return []
  // "compared with 4.11" asks for the latest, too.
  const [only] = releases
  const latest =
    only !== undefined && releases.length === 1 && COMPARES.test(question.text)
      ? await findRelease({ ...asked, projectId: only.project_id }, 'latest')
      : null
  if (latest !== null && latest.id !== only?.id) releases.unshift(latest)
  const found = await ofReleases(asked, releases, (project, release) =>
    facts.read('readPerformance', Performance, {
      query: {
        projectId: project.id,
        range,
        ...(release === undefined ? {} : { release: [release.version] }),
        ...(question.environment === null ? {} : { environment: [question.environment] }),
        ...(question.os === null || question.device !== null ? {} : { os: [question.os] }),
        ...(question.device === null ? {} : { device: [question.device] }),
      },
    }),
  )
  return found.map(({ project, figures, of }) => ({ figures, of, label, projectId: project.id, range }))
}

const ms = (value: number | null): string => (value === null ? '–' : duration(value))

/** "How slow are cold starts compared with 4.11?" */
export const starts: Intent = {
  name: 'starts',
  fits: ({ text }) =>
    /\b(?:cold|warm|app)?[- ]?start(?:s|up|ups|ing|[- ]up)?\b(?! (?:happening|appearing|occurring))|launch(?:es|ing)? (?:time|speed|slow|fast)|\blaunch(?:es|ing)?\b|time to (?:open|start|launch)|\bboot/.test(
      text,
    )
      ? /cold|warm|app[- ]start|start-?up|start time|launch|\bstarts\b|slow|fast|\bopen\b|how long/.test(text)
        ? 8
        : 0
      : 0,
  async answer(asked) {
    const isWarm = /\bwarm\b/.test(asked.question.text)
    const kind = isWarm ? 'Warm' : 'Cold'
    let isKnown = false
    for (const { figures, of, label, projectId, range } of await read(asked)) {
      const start = isWarm ? figures.warm_start : figures.cold_start
      if (start.count === 0) continue
      isKnown = true
      const cite = asked.facts.source(
        `${kind} starts of ${of} ${label}`,
        'readPerformance',
        pathTo('/performance', { project: projectId, range }),
        [
          ['What', 'This time', 'The time before'],
          ['Median', ms(start.p50_ms), ms(start.previous.p50_ms)],
          ['p75', ms(start.p75_ms), ms(start.previous.p75_ms)],
          ['p95', ms(start.p95_ms), ms(start.previous.p95_ms)],
          ['Starts', count(start.count), count(start.previous.count)],
        ],
      )
      asked.say(
        `${kind} starts of ${of} ${label}: the median is **${cite(ms(start.p50_ms))}**, p75 ${cite(ms(start.p75_ms))}, p95 ${cite(ms(start.p95_ms))}, of ${cite(count(start.count))} ${plural(start.count, 'start')}.`,
      )
      sayChange(asked, cite, start.p75_ms, start.previous.p75_ms)
    }
    sayUnknown(asked, isKnown, `${kind.toLowerCase()} starts`)
  },
}

function sayChange({ say }: Asked, cite: Cite, now: number | null, before: number | null): void {
  if (now === null || before === null) return
  if (ms(now) === ms(before)) say('The p75 did not change.')
  else say(`The p75 was ${cite(ms(before))} in the time before: it got ${now < before ? 'faster' : 'slower'}.`)
}

function sayUnknown({ say, facts, question }: Asked, isKnown: boolean, what: string): void {
  if (!isKnown && facts.refused.size === 0)
    say(`There are no ${what}${filterWords(question)} in that time, or the SDK does not report them.`)
}

/** "How many ANRs?", "What causes ANRs?" */
export const anrs: Intent = {
  name: 'anrs',
  fits: ({ text }) =>
    /\banrs?\b|not responding|\bhangs?\b|hanging|freez(?:e|es|ing)\b|app (?:is )?frozen|unresponsive|blocks? the main thread|main thread/.test(
      text,
    )
      ? 7
      : 0,
  async answer(asked) {
    let isKnown = false
    for (const { figures, of, label, projectId, range } of await read(asked)) {
      const { anrs: events, anr_rate, anr_causes } = figures
      if (events.count === 0 && anr_rate === null) continue
      isKnown = true
      const causes = (anr_causes ?? []).slice(0, asked.question.limit ?? 3)
      const cite = asked.facts.source(
        `ANRs of ${of} ${label}`,
        'readPerformance',
        pathTo('/performance/anr', { project: projectId, range }),
        [
          ['What', 'Value', 'Issue'],
          ['ANRs and hangs', count(events.count)],
          ['The time before', count(events.previous)],
          ['Users with an ANR in the foreground', anr_rate === null ? '–' : percent(anr_rate)],
          ...causes.map(({ call, count: n, short_id }) => [call, count(n), short_id]),
        ],
      )
      asked.say(
        `**${cite(count(events.count))} ${plural(events.count, 'ANR')}** of ${of} ${label}, ${cite(count(events.previous))} in the time before` +
          (anr_rate === null ? '.' : `; the ANR rate is ${cite(percent(anr_rate))} of users.`),
      )
      if (causes.length > 0) asked.say('What blocked the main thread most often:')
      for (const { call, count: n, short_id } of causes)
        asked.say(`- ${quoted(call)}: ${cite(count(n))}${short_id === null ? '' : `, most of it in ${short_id}`}`)
    }
    sayUnknown(asked, isKnown, 'ANRs')
  },
}

/** "How many frames are frozen?" */
export const frames: Intent = {
  name: 'frames',
  fits: ({ text }) => (/(?:slow|frozen|dropped) frames?|\bframes?\b|\bjank|stutter|smooth|\bfps\b/.test(text) ? 8 : 0),
  async answer(asked) {
    let isKnown = false
    for (const { figures, of, label, projectId, range } of await read(asked)) {
      const { total, slow, frozen, slow_frame_ratio, frozen_frame_ratio } = figures.frames
      if (total === 0) continue
      isKnown = true
      const cite = asked.facts.source(
        `Frames of ${of} ${label}`,
        'readPerformance',
        pathTo('/performance', { project: projectId, range }),
        [
          ['What', 'Frames', 'Slow', 'Frozen', 'Share of slow', 'Share of frozen'],
          [
            'All',
            count(total),
            count(slow),
            count(frozen),
            percent(slow_frame_ratio ?? 0),
            percent(frozen_frame_ratio ?? 0),
          ],
        ],
      )
      asked.say(
        `**${cite(percent(slow_frame_ratio ?? 0))}** of the frames of ${of} were slow ${label} and ${cite(percent(frozen_frame_ratio ?? 0))} frozen: ${cite(count(slow))} and ${cite(count(frozen))} of ${cite(count(total))}.`,
      )
    }
    sayUnknown(asked, isKnown, 'frames')
  },
}

/** "How is our LCP?" */
export const webVitals: Intent = {
  name: 'web_vitals',
  fits: ({ text }) =>
    /web vitals?|\blcp\b|\binp\b|\bcls\b|\bfcp\b|\bttfb\b|largest contentful|layout shift/.test(text) ? 8 : 0,
  async answer(asked) {
    let isKnown = false
    for (const { figures, of, label, projectId, range } of await read(asked)) {
      const vitals = Object.entries(figures.web_vitals).filter(([, { count: n }]) => n > 0)
      if (vitals.length === 0) continue
      isKnown = true
      const text = (name: string, value: number | null): string =>
        value === null ? '–' : name === 'cls' ? value.toFixed(2) : duration(value)
      const cite = asked.facts.source(
        `Web vitals of ${of} ${label}`,
        'readPerformance',
        pathTo('/performance', { project: projectId, range }),
        [
          ['Vital', 'p75', 'The time before', 'Values'],
          ...vitals.map(([name, { p75, previous_p75, count: n }]) => [
            name.toUpperCase(),
            text(name, p75),
            text(name, previous_p75),
            count(n),
          ]),
        ],
      )
      asked.say(`Web vitals of ${of} ${label}, as their third quartiles:`)
      for (const [name, { p75, count: n }] of vitals)
        asked.say(`- ${name.toUpperCase()}: ${cite(text(name, p75))}, of ${cite(count(n))} ${plural(n, 'value')}`)
    }
    sayUnknown(asked, isKnown, 'web vitals')
  },
}
