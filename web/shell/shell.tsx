import { useIsFetching, useQueryClient } from '@tanstack/react-query'
import { Outlet, useLocation, useNavigate, useRouterState } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import { startLive, useLive } from '../api/live.ts'
import { useKeys } from '../app/keys.ts'
import { carried, paths } from '../address/paths.ts'
import { useThrottled } from '../ui/throttled.ts'
import { preloadMenus } from '../ui/menu.tsx'
import { preloadPopovers } from '../ui/popover.tsx'
import { runNewestAction } from '../ui/toasts.tsx'
import { appTexts } from '../app/texts.ts'
import { shellTexts } from './texts.ts'
import { AlertAnnouncer, useFiringCount } from './alert-watch.tsx'
import { LiveBanner } from './live-mark.tsx'
import { PhoneTabs } from './phone-tabs.tsx'
import { Rail } from './rail.tsx'
import { TopBar } from './top-bar.tsx'
import { useScope } from '../app/use-scope.ts'
import { classNames } from '../ui/class-names.ts'
import fitStyles from '../ui/fit.module.css'
import styles from './shell.module.css'
import { SkipLink } from '../ui/page-main.tsx'

const Palette = lazy(() => import('./palette.tsx').then((module) => ({ default: module.Palette })))
const CanaryBanner = lazy(() => import('./canary-banner.tsx').then((module) => ({ default: module.CanaryBanner })))
const Gauge = lazy(() => import('./gauge.tsx').then((module) => ({ default: module.Gauge })))
const KeySheet = lazy(() => import('./key-sheet.tsx').then((module) => ({ default: module.KeySheet })))
const InviteDialog = lazy(() =>
  import('../subjects/members/invite-dialog.tsx').then((module) => ({ default: module.InviteDialog })),
)

type Overlay = 'palette' | 'keys' | 'invite' | null

const REFRESH_MS = 2000
/** How long nothing is loaded before the panels are. */
const QUIET_MS = 1000

/** The frame of a page: rail, top bar and tabs. */
export function Shell() {
  const [overlay, setOverlay] = useState<Overlay>(null)
  const navigate = useNavigate()
  const client = useQueryClient()
  const { projectId, chosenRange: range, offers } = useScope()
  const busy = useIsFetching({ predicate: ({ state, meta }) => state.data !== undefined && meta?.quiet !== true }) > 0

  useEffect(() => startLive(client), [client])
  const isLater = usePreloadedPanels()
  useFreshness()
  useFocusOnArrival()
  useFiringCount()
  useKeys([
    {
      keys: 'mod+k',
      label: shellTexts.palette,
      group: 'General',
      run: () => setOverlay('palette'),
      whileTyping: true,
      sheetOnly: true,
    },
    { keys: '?', label: appTexts.keys, group: 'General', run: () => setOverlay('keys') },
    { keys: 'z', label: shellTexts.undo, group: 'General', run: runNewestAction, sheetOnly: true },
    {
      keys: 'g i',
      label: shellTexts.goToIssues,
      group: 'Go to',
      run: () =>
        void navigate(
          paths.issues(
            carried({ ...(offers.project === 'any' && projectId !== null ? { project: projectId } : {}), range }),
          ),
        ),
      sheetOnly: true,
    },
    {
      keys: 'g a',
      label: shellTexts.goToAlerts,
      group: 'Go to',
      run: () => void navigate(paths.alerts(projectId === null ? {} : { project: projectId })),
      sheetOnly: true,
    },
    ...(
      [
        ['g o', shellTexts.goToOverview, paths.overview],
        ['g l', shellTexts.goToLogs, paths.logs],
        ['g m', shellTexts.goToMetrics, paths.metrics],
        ['g p', shellTexts.goToPerformance, paths.performance],
        ['g t', shellTexts.goToTraces, paths.traces],
        ['g r', shellTexts.goToReleases, paths.releases],
        ['g s', shellTexts.goToSymbols, paths.symbols],
        ['g k', shellTexts.goToAsk, paths.ask],
        ['g q', shellTexts.goToQuery, paths.query],
      ] as const
    ).map(([keys, label, to]) => ({
      keys,
      label,
      group: 'Go to' as const,
      run: () => void navigate(to(carried({ ...(projectId === null ? {} : { project: projectId }), range }))),
      sheetOnly: true,
    })),
  ])

  const close = () => setOverlay(null)
  const openPalette = () => setOverlay('palette')
  const openKeys = () => setOverlay('keys')
  return (
    <div className={styles.app}>
      <SkipLink>{appTexts.skip}</SkipLink>
      <Rail onJump={openPalette}>
        <Suspense fallback={null}>{isLater ? <Gauge /> : null}</Suspense>
      </Rail>
      <div className={classNames(styles.pane, fitStyles.shrinks)}>
        <TopBar onJump={openPalette} onKeys={openKeys} busy={busy} />
        <LiveBanner />
        <Suspense fallback={null}>{isLater ? <CanaryBanner /> : null}</Suspense>
        <Outlet />
      </div>
      <PhoneTabs />
      <AlertAnnouncer />
      <Suspense fallback={null}>
        {overlay === 'palette' ? <Palette onClose={close} onInvite={() => setOverlay('invite')} /> : null}
        {overlay === 'invite' ? <InviteDialog onClose={close} /> : null}
        {overlay === 'keys' ? <KeySheet onClose={close} /> : null}
      </Suspense>
    </div>
  )
}

/**
 * Loads menus and popovers when the page has loaded, or at the first key: they are no part of the first load, and are
 * there before the keys that are for an open panel. Returns whether the page has loaded.
 */
function usePreloadedPanels(): boolean {
  const [hasLoaded, setHasLoaded] = useState(false)
  const isLoading = useRouterState({ select: (state) => state.isLoading })
  const isQuiet = useIsFetching() === 0 && !isLoading
  useEffect(() => {
    const load = () => {
      preloadPanels()
      setHasLoaded(true)
    }
    const timer = isQuiet ? setTimeout(load, QUIET_MS) : undefined
    return () => clearTimeout(timer)
  }, [isQuiet])
  useEffect(() => {
    addEventListener('keydown', preloadPanels, { once: true })
    return () => removeEventListener('keydown', preloadPanels)
  }, [])
  return hasLoaded
}

function preloadPanels(): void {
  preloadMenus()
  preloadPopovers()
}

/** Invalidates the queries that live messages name; lists of issues handle messages themselves. */
function useFreshness(): void {
  const client = useQueryClient()
  // Throttled: a refetch at every message would cancel slow requests again and again.
  const count = useThrottled(REFRESH_MS, () => client.invalidateQueries({ queryKey: ['issues', 'open-count'] }))
  const releases = useThrottled(REFRESH_MS, () => client.invalidateQueries({ queryKey: ['releases'] }))
  const symbols = useThrottled(REFRESH_MS, () =>
    Promise.all([
      client.invalidateQueries({ queryKey: ['symbols'] }),
      client.invalidateQueries({ queryKey: ['issues', 'detail'] }),
    ]),
  )
  const alerts = useThrottled(1000, () => client.invalidateQueries({ queryKey: ['alerts'] }))
  const webhooks = useThrottled(1000, () => client.invalidateQueries({ queryKey: ['webhooks'] }))
  useLive(
    (messages) => {
      if (messages.some(({ kind }) => kind === 'alerts')) alerts()
      if (messages.some(({ kind }) => kind === 'webhooks')) webhooks()
      if (messages.some(({ kind }) => kind === 'project')) void client.invalidateQueries({ queryKey: ['projects'] })
      if (messages.some(({ kind }) => kind === 'inbox')) void client.invalidateQueries({ queryKey: ['inbox'] })
      if (messages.some(({ kind }) => kind === 'issues')) count()
      if (messages.some(({ kind }) => kind === 'releases')) releases()
      if (messages.some(({ kind }) => kind === 'symbols')) symbols()
      if (messages.some(({ kind }) => kind === 'canary')) void client.invalidateQueries({ queryKey: ['canary'] })
    },
    () => void client.invalidateQueries(),
  )
}

/** Moves the focus to the start of the page after navigation, as after a page load. */
function useFocusOnArrival(): void {
  const { pathname } = useLocation()
  const before = useRef(pathname)
  useEffect(() => {
    if (before.current === pathname) return
    before.current = pathname
    document.getElementById('main')?.focus({ preventScroll: true })
  }, [pathname])
}
