"""The application: its routes, and the workers behind them."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from fastapi import FastAPI, Request, Response
from fastapi.responses import FileResponse, JSONResponse
from fastapi.staticfiles import StaticFiles

from ernie_pp import __version__
from ernie_pp.serving.http.bodies import PredictBody
from ernie_pp.serving.http.errors import add_error_bodies
from ernie_pp.serving.http.guard import Guard
from ernie_pp.serving.http.metrics import Metrics
from ernie_pp.serving.http.predict import PredictRoute, shown_limits
from ernie_pp.serving.http.uploads import TextRoute
from ernie_pp.serving.limits import Limits
from ernie_pp.serving.process import WorkerProcess

PAGE = Path(__file__).resolve().parents[1] / "page"
_PREDICT = {
    "requestBody": {"required": True, "content": {"application/json": {"schema": PredictBody.model_json_schema()}}}
}
_FILE = {
    "parameters": [{"name": "name", "in": "query", "required": True, "schema": {"type": "string"}}],
    "requestBody": {"required": True, "content": {"application/octet-stream": {}}},
}


def build_app(
    workers: Sequence[WorkerProcess], limits: Limits, *, token: str | None = None, is_loopback: bool = True
) -> FastAPI:
    """The routes over these workers, which are started and ended with the application."""

    @contextlib.asynccontextmanager
    async def alive(app: FastAPI) -> AsyncIterator[None]:
        for worker in workers:
            worker.start()
        yield
        for worker in workers:
            await worker.stop()

    # FastAPI's own page of the API loads its scripts from another site.
    app = FastAPI(title="ernie_pp", version=__version__, lifespan=alive, docs_url=None, redoc_url=None)
    metrics = Metrics(workers)
    _add_routes(app, workers, limits, metrics)
    add_error_bodies(app)
    paths = frozenset({"/", "/docs", "/openapi.json", "/healthz", "/metrics", "/v1/predict", "/v1/text", "/v1/bundles"})
    app.middleware("http")(Guard(metrics, paths, token, is_loopback).__call__)
    return app


def _add_routes(app: FastAPI, workers: Sequence[WorkerProcess], limits: Limits, metrics: Metrics) -> None:
    async def bundles() -> JSONResponse:
        """The bundles that are ready to be asked, and the limits of a request."""
        ready = [{"name": one.name, **one.about} for one in workers if one.about is not None]
        return JSONResponse({"bundles": ready, "limits": shown_limits(limits)})

    async def healthz() -> JSONResponse:
        """200 where every bundle can be asked, else 503 and what each says."""
        problems = {one.name: one.problem for one in workers if one.problem is not None}
        status = "ready" if not problems else "not ready"
        return JSONResponse({"status": status, "problems": problems}, status_code=503 if problems else 200)

    async def show_metrics() -> Response:
        """Counts and times for Prometheus."""
        return Response(metrics.render(), media_type="text/plain; version=0.0.4; charset=utf-8")

    async def page() -> FileResponse:
        return FileResponse(PAGE / "index.html")

    async def about_api() -> FileResponse:
        return FileResponse(PAGE / "docs.html")

    predict_route, text_route = PredictRoute({one.name: one for one in workers}, limits, metrics), TextRoute(limits)

    async def predict(request: Request) -> Response:
        """Labels, entities or answers of texts."""
        return await predict_route(request)

    async def text(request: Request) -> Response:
        """The text of a .txt, .md, .docx or .pdf file."""
        return await text_route(request)

    app.post("/v1/predict", openapi_extra=_PREDICT, response_model=None)(predict)
    app.post("/v1/text", openapi_extra=_FILE, response_model=None)(text)
    app.get("/v1/bundles", response_model=None)(bundles)
    app.get("/healthz", response_model=None)(healthz)
    app.get("/metrics", response_model=None)(show_metrics)
    app.get("/", include_in_schema=False, response_model=None)(page)
    app.get("/docs", include_in_schema=False, response_model=None)(about_api)
    app.mount("/page", StaticFiles(directory=PAGE), name="page")
