import type { Frame } from './facts.ts'

/** Reasons why a main thread does not answer, by its innermost frames. */
const WAITS: readonly { readonly frame: RegExp; readonly means: string; readonly next: string }[] = [
  {
    frame: /QueuedWork\.waitToFinish|SharedPreferencesImpl.*(?:awaitLoadedLocked|commit|writeToFile)/,
    means: 'it waits until preferences are written or read',
    next: 'Use apply() less often before a screen ends, or DataStore.',
  },
  {
    frame: /SQLite|sqlite3|RoomDatabase|CoreData|NSPersistentStore|NSManagedObjectContext/i,
    means: 'it reads or writes a database',
    next: 'Move the query to a background thread.',
  },
  {
    frame:
      /socketRead|SocketInputStream|HttpURLConnection|okhttp3|NetworkDispatcher|sendSynchronousRequest|CFNetwork|recvfrom|Socket\.connect/i,
    means: 'it waits for the network',
    next: 'Move the request to a background thread.',
  },
  {
    frame: /Thread\.sleep|\bnanosleep\b|\busleep\b|SystemClock\.sleep/,
    means: 'it sleeps',
    next: 'Post the work later instead of sleeping.',
  },
  {
    frame: /BinderProxy\.transact|transactNative|mach_msg.*xpc|NSXPC/,
    means: 'it waits for another process',
    next: 'Call the other process from a background thread.',
  },
  {
    frame:
      /FileInputStream|FileOutputStream|RandomAccessFile|libcore\.io|\bfsync\b|\bfread\b|NSData.*initWithContents|AssetManager|ZipFile/,
    means: 'it reads or writes a file',
    next: 'Move the work with files to a background thread.',
  },
  {
    frame:
      /Object\.wait|Unsafe\.park|LockSupport|ReentrantLock|Monitor|semaphore_wait|psynch_(?:mutex|cv)wait|dispatch_sync|CountDownLatch|FutureTask\.get|runBlocking|pthread_mutex/i,
    means: 'it waits for a lock or for another thread',
    next: 'Find the thread that holds the lock, and do not wait on the main thread.',
  },
  {
    frame: /BitmapFactory|Bitmap\.|decodeStream|ImageIO|UIImage/,
    means: 'it decodes an image',
    next: 'Decode images in the background, at the size that is shown.',
  },
  {
    frame: /LayoutInflater|onMeasure|onLayout|UITableView|UICollectionView|layoutSubviews|Choreographer/,
    means: 'it builds or lays out views',
    next: 'Make the layout flatter, and create fewer views at once.',
  },
  {
    frame: /JSONObject|Gson|Moshi|JSONSerialization|JSONDecoder|kotlinx\.serialization|ObjectMapper/,
    means: 'it parses JSON',
    next: 'Parse in the background.',
  },
]

/** Frames from the innermost on that are looked at. */
const MAX_FRAMES = 15

/** Why the main thread does not answer; null when its frames do not say. The list above is from particular to general. */
export function whyBlocked(frames: readonly Frame[]): { readonly means: string; readonly next: string } | null {
  const names = frames
    .slice(-MAX_FRAMES)
    .map(({ module, function: name, package: library }) => [module ?? library, name].filter(Boolean).join('.'))
  const found = WAITS.find(({ frame }) => names.some((name) => frame.test(name)))
  if (found !== undefined) return found
  // The thread waits for the next message: it had work before.
  if (names.slice(-3).some((name) => /nativePollOnce|MessageQueue\.next$/.test(name)))
    return {
      means: 'it was idle again when the stack was taken',
      next: 'Look at the breadcrumbs and the trace before it: the work that blocked it had ended.',
    }
  return null
}
