const lines = ['w-11/12', 'w-3/4', 'w-5/6', 'w-2/5']

export function ModelSkeleton() {
  return (
    <div className="page pt-12" aria-busy="true">
      <h1 className="sr-only">Loading</h1>
      <div className="mt-4 flex gap-4 sm:gap-7">
        <div className="skeleton size-16 shrink-0 rounded-2xl sm:size-28" />
        <div className="grid flex-1 grid-cols-1 content-center gap-3 sm:content-start">
          <div className="skeleton h-9 w-72 max-w-full" />
          <div className="skeleton h-5 w-96 max-w-full" />
        </div>
      </div>
      <div className="skeleton mt-8 h-16" />
      <div className="mt-10 grid gap-x-14 gap-y-8 lg:grid-cols-[1fr_348px]">
        <div className="grid content-start gap-3">
          {lines.map((width) => (
            <div key={width} className={`skeleton h-4 ${width}`} />
          ))}
        </div>
        <div className="skeleton h-48 rounded-card max-lg:order-first" />
      </div>
    </div>
  )
}
