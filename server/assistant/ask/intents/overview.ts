import { ofProjects, ofScope, askedRange, type Asked, type Intent } from '../asked.ts'
import { pathTo } from '../facts.ts'
import { Overview, StoreGuard } from '../shapes.ts'
import { count, percent, plural } from '../question.ts'

const read = (asked: Asked, range: string) =>
  asked.facts.read('readOverview', Overview, {
    query: { range, ...(asked.projectId === null ? {} : { projectId: asked.projectId }) },
  })

/** "How are we doing?" */
export const overview: Intent = {
  name: 'overview',
  fits: ({ text }) =>
    /overview|summar|how (?:are|is) (?:we|things|it|everything|the app|our app|the project)|how's|\bstatus\b|state of|what(?:'s| is) (?:going on|happening|up)|what happened|what(?:'s| is) (?:wrong|broken)|catch me up|\breport\b|anything (?:wrong|on fire|i should)|doing\b/.test(
      text,
    )
      ? 4
      : 0,
  async answer(asked) {
    const { range, label } = askedRange(asked)
    const found = await read(asked, range)
    if (found === null) return
    const { cards, issues, releases } = found
    const cite = asked.facts.source(
      `Overview${ofScope(asked)} ${label}`,
      'readOverview',
      pathTo('/', { project: asked.projectId, range }),
      [
        ['What', 'Value', 'The time before'],
        ['Crash-free sessions', rate(cards.crash_rate.value), rate(cards.crash_rate.previous)],
        ['ANR rate', cards.anr_rate.value === null ? '–' : percent(cards.anr_rate.value)],
        [
          'Error events',
          count(cards.event_count.value ?? 0),
          cards.event_count.previous === null ? '–' : count(cards.event_count.previous),
        ],
        ['Users with an error', count(cards.user_count.value ?? 0)],
        ['Open issues', count(issues.open)],
        ['New issues', count(issues.new)],
        ['Regressed issues', count(issues.regressed)],
        ['Critical issues', count(issues.critical)],
        ...releases.map(({ version, verdict, adoption }) => [
          version,
          verdict,
          adoption === null ? '–' : percent(adoption),
        ]),
      ],
    )
    asked.say(`**Overview**${ofScope(asked)} ${label}:`)
    if (cards.crash_rate.value !== null)
      asked.say(`- ${cite(rate(cards.crash_rate.value))} of sessions were crash-free`)
    const [events, users] = [cards.event_count.value ?? 0, cards.user_count.value ?? 0]
    asked.say(
      `- ${cite(count(events))} ${plural(events, 'error event')} of ${cite(count(users))} ${plural(users, 'user')}`,
    )
    asked.say(
      `- ${cite(count(issues.open))} open ${plural(issues.open, 'issue')}: ${cite(count(issues.new))} new, ${cite(count(issues.regressed))} regressed, ${cite(count(issues.critical))} critical`,
    )
    const [release] = releases
    if (release !== undefined)
      asked.say(`- The newest release is ${release.version}: ${release.verdict.replaceAll('_', ' ')}`)
  },
}

const rate = (crashRate: number | null): string => (crashRate === null ? '–' : percent(1 - crashRate))

/** "Are we losing events?", "How much of the quota is used?" */
export const intake: Intent = {
  name: 'intake',
  fits: ({ text }) =>
    /\bquota|rate[- ]?limit|\bdropped (?!frames)|\blosing|\blost\b|filtered|discarded|intake|ingest|\baccepted\b/.test(
      text,
    )
      ? 7
      : 0,
  async answer(asked) {
    const { range, label } = askedRange(asked)
    const found = await read(asked, range)
    if (found === null) return
    const { accepted, filtered, rate_limited, dropped, events_per_day, used_today } = found.intake
    const cite = asked.facts.source(
      `Error events${ofScope(asked)} by outcome ${label}`,
      'readOverview',
      pathTo('/intake', { project: asked.projectId }),
      [
        ['What', 'Accepted', 'Filtered', 'Rate limited', 'Dropped', 'Quota a day', 'Used today'],
        [
          'All',
          count(accepted),
          count(filtered),
          count(rate_limited),
          count(dropped),
          events_per_day === null ? 'none' : count(events_per_day),
          count(used_today),
        ],
      ],
    )
    asked.say(
      `Of the error events${ofScope(asked)} ${label}, **${cite(count(accepted))}** were accepted, ${cite(count(filtered))} filtered, ${cite(count(rate_limited))} rate limited and ${cite(count(dropped))} dropped.`,
    )
    asked.say(
      events_per_day === null
        ? 'The organisation has no quota.'
        : `Today ${cite(count(used_today))} of the quota of ${cite(count(events_per_day))} are used.`,
    )
  },
}

/** "Will the Play Store flag us?" */
export const storeGuard: Intent = {
  name: 'store_guard',
  fixedTime: 'of the days that the stores look at',
  fits: ({ text }) => (/play store|app store|google play|\bstores?\b|bad behaviou?r|android vitals/.test(text) ? 8 : 0),
  async answer(asked) {
    const found = await ofProjects(asked, (project) =>
      asked.facts.read('readStoreGuard', StoreGuard, { query: { projectId: project.id } }),
    )
    for (const { project, figures } of found) {
      const { crash, anr, limits, window_days } = figures
      const cite = asked.facts.source(
        `${project.name} against the limits of app stores, over ${window_days} days`,
        'readStoreGuard',
        pathTo('/metrics', { project: project.id }),
        [
          ['What', 'Rate', 'Limit', 'Days of users'],
          [
            'Crashes',
            crash.rate === null ? '–' : percent(crash.rate),
            percent(limits.crash_rate),
            count(crash.user_days),
          ],
          ['ANRs', anr.rate === null ? '–' : percent(anr.rate), percent(limits.anr_rate), count(anr.user_days)],
        ],
      )
      if (crash.rate === null && anr.rate === null) {
        asked.say(
          `${project.name} has too few days of users to be compared with the limits of app stores: ${cite(count(crash.user_days))}.`,
        )
        continue
      }
      asked.say(`${project.name}, over ${window_days} days:`)
      for (const [name, of, limit] of [
        ['Crashes', crash, limits.crash_rate],
        ['ANRs', anr, limits.anr_rate],
      ] as const)
        if (of.rate !== null)
          asked.say(
            `- ${name}: ${cite(percent(of.rate))} of daily users, ${of.rate < limit ? 'below' : 'above'} the limit of ${cite(percent(limit))}`,
          )
    }
  },
}
